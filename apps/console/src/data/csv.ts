/** A table as CSV (RFC 4180). */
export const writeCsv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');

const cell = (text: string): string =>
  /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** The rows of a CSV text, with quotes or without, whatever its lines end with. Empty lines are none. @throws SyntaxError for quotes that are no CSV */
export function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const end = () => {
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  };
  const source = text.replace(/^\uFEFF/, '');
  for (let at = 0; at <= source.length; ) {
    const { value, next } = readCell(source, at);
    row.push(value);
    if (source[next] !== ',') end();
    at = source.startsWith('\r\n', next) ? next + 2 : next + 1;
  }
  return rows;
}

const SEPARATOR = /[,\r\n]/g;

/** The cell that begins at `at`; `next`: the comma, the line's end or the end of the text. */
function readCell(source: string, at: number): { value: string; next: number } {
  if (source[at] !== '"') {
    SEPARATOR.lastIndex = at;
    const next = SEPARATOR.exec(source)?.index ?? source.length;
    return { value: source.slice(at, next), next };
  }
  let value = '';
  for (let from = at + 1; ; ) {
    const quote = source.indexOf('"', from);
    if (quote < 0) throw new SyntaxError('A quoted cell has no end.');
    value += source.slice(from, quote);
    if (source[quote + 1] !== '"') {
      if (/[^,\r\n]/.test(source[quote + 1] ?? ''))
        throw new SyntaxError('Text follows the end of a quoted cell.');
      return { value, next: quote + 1 };
    }
    value += '"';
    from = quote + 2;
  }
}
