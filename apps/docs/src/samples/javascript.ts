/** A value that stands in a sample as it is: an expression. */
export class Expression {
  readonly code: string;
  constructor(code: string) {
    this.code = code;
  }
}

const WIDTH = 78;

/**
 * A value as a literal of JavaScript, in one line where it fits.
 * @param before characters that stand before it in its line
 */
export const literal = (value: unknown, before = 0): string =>
  written(value, { indent: '', before, style: JAVASCRIPT });

/** The same as JSON. */
export const jsonText = (value: unknown, before = 0): string =>
  written(value, { indent: '', before, style: JSON_STYLE });

interface Style {
  readonly key: (name: string) => string;
  readonly text: (value: string) => string;
  /** After the last member. */
  readonly last: string;
}

const quoted = (value: string): string =>
  `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
const JAVASCRIPT: Style = {
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)),
  text: quoted,
  last: ',',
};
const JSON_STYLE: Style = { key: JSON.stringify, text: JSON.stringify, last: '' };

interface Place {
  readonly indent: string;
  readonly before: number;
  readonly style: Style;
}

function written(value: unknown, { indent, before, style }: Place): string {
  const line = inline(value, style);
  if (line.length + before <= WIDTH || !hasMembers(value)) return line;
  const deeper = `${indent}  `;
  const part = (one: unknown, name = '') =>
    written(one, { indent: deeper, before: deeper.length + name.length, style });
  const parts = Array.isArray(value)
    ? value.map((one) => part(one))
    : Object.entries(value).map(([name, one]) => member(name, one, part(one, `${name}: `), style));
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${deeper}${parts.join(`,\n${deeper}`)}${style.last}\n${indent}${close}`;
}

const hasMembers = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !(value instanceof Expression) &&
  Object.keys(value).length > 0;

function inline(value: unknown, style: Style): string {
  if (value instanceof Expression) return value.code;
  if (typeof value === 'string') return style.text(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((one) => inline(one, style)).join(', ')}]`;
  const members = Object.entries(value).map(([name, one]) => member(name, one, inline(one, style), style));
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** `{ path }` where the value is the variable of that name. */
const member = (name: string, value: unknown, shown: string, { key }: Style): string =>
  value instanceof Expression && value.code === name ? name : `${key(name)}: ${shown}`;
