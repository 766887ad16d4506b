import type { RoutedRpc } from '@orrery/contracts';
import { writeYaml } from '../documents/yaml-text.js';
import { type ServerAnswer, warningText } from '../server/ask-server.js';
import type { CommandContext } from '../terminal/context.js';
import { formatRows } from '../terminal/format-rows.js';
import { at, columnsOf } from './columns.js';

/** A part of the data, and what is said about the rest. */
export interface Brief {
  readonly data: unknown;
  readonly note?: string;
}

export interface Showing {
  readonly json?: boolean | undefined;
  /** All pages of a list. */
  readonly all?: boolean | undefined;
  readonly brief?: ((data: unknown) => Brief) | undefined;
}

/** Shows an answer: for programs its data as JSON; for people a list as a table, anything else as YAML. */
export function showAnswer(
  rpc: RoutedRpc,
  { data, message, warnings = [], pagination }: ServerAnswer,
  {
    json = false,
    brief = (all) => ({ data: all }),
    write,
    note,
  }: Showing & Pick<CommandContext, 'write' | 'note'>,
): void {
  const shown = json ? { data } : brief(data);
  if (json) write(JSON.stringify(data, null, 2));
  else write(Array.isArray(shown.data) ? tableOf(rpc, shown.data) : writeYaml(shown.data).trimEnd());
  if (shown.note !== undefined) note(shown.note);
  if (message !== undefined) note(message);
  for (const warning of warnings) note(warningText(warning, warning.pointer));
  const count = Array.isArray(data) ? data.length : 0;
  const { total = count, next } = pagination ?? {};
  if (typeof next === 'string')
    note(`There are more: --cursor ${next} shows the next page, --all shows all of them`);
  else if (next === undefined && total > count)
    note(`${count} of ${total}: --page and --limit show others, --all shows all of them`);
}

function tableOf(rpc: RoutedRpc, rows: readonly object[]): string {
  if (rows.length === 0) return 'none';
  const columns = columnsOf(rpc, rows);
  const titles = columns.map((column) => column.replace(/^state\./, ''));
  const cells = rows.map((row) =>
    Object.fromEntries(columns.map((column, index) => [titles[index] ?? '', cellOf(at(row, column))])),
  );
  return formatRows(cells, titles);
}

/** Characters of a cell. */
const MAX_CELL = 60;

export function cellOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = typeof value === 'string' ? value : textOf(value);
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > MAX_CELL ? `${line.slice(0, MAX_CELL - 1)}…` : line;
}

/** Of named things the names are enough. */
function textOf(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  const names = value.map((one: unknown) =>
    typeof one === 'object' ? (one as { name?: unknown } | null)?.name : one,
  );
  return names.every((name) => typeof name === 'string') ? names.join(', ') : JSON.stringify(value);
}
