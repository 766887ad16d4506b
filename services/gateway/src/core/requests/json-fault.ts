/** Why a text is no JSON, and where: line and column count from 1, columns in UTF-16 units. */
interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** What may come next. After a comma an object needs a name and a list a value. */
type State = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma' | 'end';

/**
 * The first fault of a text by RFC 8259; undefined where there is none. Engines word their own messages differently, and
 * some leave out the position. Takes time in proportion to the text, whatever its depth.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  /** The brackets that will close the objects and lists that are open. */
  const open: string[] = [];
  let state = 'value' as State;
  let at = 0;
  const proceed = (to: number, next: State = open.length === 0 ? 'end' : 'comma') => {
    at = to;
    state = next;
  };
  for (;;) {
    at = after(/[ \t\n\r]*/y, text, at) ?? at;
    const char = text.charAt(at);
    if (char === '' && state === 'end') return undefined;
    const takesValue = state === 'value' || state === 'first value';
    const takesName = state === 'name' || state === 'first name';
    const isFirst = state === 'first value' || state === 'first name';
    const scalar = takesValue ? after(SCALAR, text, at) : undefined;
    if (char === '"' && (takesValue || takesName)) {
      const end = endOfText(text, at);
      if (typeof end !== 'number') return end;
      proceed(end, takesName ? 'colon' : undefined);
    } else if (takesValue && (char === '{' || char === '[')) {
      open.push(char === '{' ? '}' : ']');
      proceed(at + 1, char === '{' ? 'first name' : 'first value');
    } else if (scalar !== undefined) proceed(scalar);
    else if (state === 'colon' && char === ':') proceed(at + 1, 'value');
    else if (state === 'comma' && char === ',') proceed(at + 1, open.at(-1) === '}' ? 'name' : 'value');
    else if ((state === 'comma' || isFirst) && char === open.at(-1)) {
      open.pop();
      proceed(at + 1);
    } else return placed(text, at, misfit(text, at, state));
  }
}

const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function endOfText(text: string, start: number): number | JsonFault {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') return at + 1;
    if (char < ' ') return placed(text, at, CONTROL_CHARACTER);
    if (char !== '\\') continue;
    const end = after(/\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y, text, at);
    if (end === undefined) return placed(text, at, 'This escape is not known: write a backslash as \\\\.');
    at = end - 1;
  }
  return placed(text, start, 'The text that begins here is not closed with ".');
}

const CONTROL_CHARACTER = 'A line break or control character in a text is written as an escape such as \\n.';

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
function misfit(text: string, at: number, state: State): string {
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

function placed(text: string, at: number, message: string): JsonFault {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return { line, column: at - before.lastIndexOf('\n'), message };
}
