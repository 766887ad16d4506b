/** Why a text is no JSON, and where: line and column count from 1, columns in UTF-16 units. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** What may come next. After a comma an object needs a name and a list a value. */
type State = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma' | 'end';

interface Scan {
  readonly text: string;
  at: number;
  state: State;
  /** The objects and lists that are open. */
  readonly open: ('{' | '[')[];
}

/**
 * The first fault of a text by RFC 8259; undefined where there is none. Engines word their own messages differently, and
 * some leave out the position. Takes time in proportion to the text, whatever its depth.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const scan: Scan = { text, at: 0, state: 'value', open: [] };
  for (;;) {
    scan.at = after(/[ \t\n\r]*/y, text, scan.at) ?? scan.at;
    if (scan.at >= text.length) return scan.state === 'end' ? undefined : placed(scan, misfit(scan));
    const wrong = step(scan);
    if (wrong !== undefined) return placed(scan, wrong);
  }
}

/** Takes one token; returns what is wrong with it, with the scan standing at the fault. */
function step(scan: Scan): string | undefined {
  const char = scan.text.charAt(scan.at);
  const { state } = scan;
  if (state === 'comma') return separate(scan, char);
  if (state === 'colon') return char === ':' ? proceed(scan, scan.at + 1, 'value') : misfit(scan);
  if (state === 'name' || state === 'first name') {
    if (char === '}' && state === 'first name') return close(scan);
    return char === '"' ? takeText(scan, 'colon') : misfit(scan);
  }
  if (state === 'end') return misfit(scan);
  return char === ']' && state === 'first value' ? close(scan) : takeValue(scan, char);
}

function proceed(scan: Scan, at: number, state: State): undefined {
  scan.at = at;
  scan.state = state;
}

const afterValue = ({ open }: Scan): State => (open.length === 0 ? 'end' : 'comma');

function close(scan: Scan): undefined {
  scan.open.pop();
  return proceed(scan, scan.at + 1, afterValue(scan));
}

function separate(scan: Scan, char: string): string | undefined {
  const inObject = scan.open.at(-1) === '{';
  if (char === (inObject ? '}' : ']')) return close(scan);
  return char === ',' ? proceed(scan, scan.at + 1, inObject ? 'name' : 'value') : misfit(scan);
}

function takeValue(scan: Scan, char: string): string | undefined {
  if (char === '{' || char === '[') {
    scan.open.push(char);
    return proceed(scan, scan.at + 1, char === '{' ? 'first name' : 'first value');
  }
  if (char === '"') return takeText(scan, afterValue(scan));
  const end = after(/true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, scan.text, scan.at);
  return end === undefined ? misfit(scan) : proceed(scan, end, afterValue(scan));
}

function takeText(scan: Scan, next: State): string | undefined {
  const { text, at: start } = scan;
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') return proceed(scan, at + 1, next);
    if (char < ' ')
      return fault(
        scan,
        at,
        'A line break or control character in a text is written as an escape such as \\n.',
      );
    if (char !== '\\') continue;
    const end = after(/\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y, text, at);
    if (end === undefined) return fault(scan, at, 'This escape is not known: write a backslash as \\\\.');
    at = end - 1;
  }
  return 'The text that begins here is not closed with ".';
}

function fault(scan: Scan, at: number, message: string): string {
  scan.at = at;
  return message;
}

/** End of what the sticky pattern matches at this position. */
function after(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

const EXPECTED: Readonly<Record<State, string>> = {
  value: 'a value',
  'first value': 'a value or "]"',
  name: 'a property name in double quotes',
  'first name': 'a property name in double quotes or "}"',
  colon: '":"',
  comma: '"," or the closing bracket',
  end: 'the end of the body',
};

/** What was expected and what is there, with a hint for the usual mistakes. */
function misfit({ text, at, state }: Scan): string {
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
  const found = at >= text.length ? 'the body ends' : `found ${JSON.stringify(char)}`;
  return `Expected ${EXPECTED[state]}, but ${found}.${hint(char, state)}`;
}

function hint(char: string, state: State): string {
  if (char === "'") return ' Names and texts stand in double quotes.';
  if (char === '}' && state === 'name') return ' There is no comma after the last property.';
  if (char === ']' && state === 'value') return ' There is no comma after the last value.';
  return char === '\ufeff' ? ' Send the body without a byte order mark.' : '';
}

function placed({ text, at }: Scan, message: string): JsonFault {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return { line, column: at - before.lastIndexOf('\n'), message };
}
