import { visible } from './visible.js';

/** Rows as aligned text columns under their names. */
export function formatRows(rows: readonly object[], columns: readonly string[]): string {
  const cells = [
    columns.map(textOf),
    ...rows.map((row) => columns.map((name) => textOf((row as Record<string, unknown>)[name]))),
  ];
  const widths = columns.map((_, column) =>
    cells.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0),
  );
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '–';
  // A cell stays in its line, and is as wide as it is shown.
  return visible((Array.isArray(value) ? value.join(',') : String(value)).replaceAll(/\s+/g, ' '));
}
