/** Rows of `rowText` as an array. */
export const rowArray = (rows: readonly string[]): string => `{${rows.join(',')}}`;

/** Rows that are JSON objects. */
export const jsonRows = (rows: readonly object[]): string =>
  rows.length === 0 ? '[]' : JSON.stringify(rows);

/** Of what one of these two made. */
export const hasRows = (rows: string): boolean => rows !== '{}' && rows !== '[]';

/** A row inside an array, as PostgreSQL reads both from text; its fields were made by `textField` or need no quotes. */
export const rowText = (fields: readonly (string | number)[]): string => `"(${fields.join(',')})"`;

/** A field of any text, for `rowText`: quoted for the row, and that again for the array. Null is an empty field. */
export function textField(text: string | null): string {
  if (text === null) return '';
  const backslashed = text.includes('\\') ? text.replaceAll('\\', '\\\\\\\\') : text;
  return `\\"${backslashed.replaceAll('"', '\\"\\"')}\\"`;
}

/** JSON's null, and what is not there, are SQL's null. */
export const jsonField = (value: unknown): string =>
  textField(value === null || value === undefined ? null : JSON.stringify(value));
