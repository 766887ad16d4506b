const write = (...what: readonly string[]) => `Write ${what.map((one) => `"${one}"`).join(' or ')}.`;

const POWER = 'For a power write the product, as in "input.n * input.n".';
const DEFAULT = 'write a condition, as in "has(input.n) ? input.n : 0".';
const ABSENT = `For a value in place of an absent one ${DEFAULT}`;
const TEXTS =
  'Write the placeholders into the text, as in "lap {{ input.n }}", or add texts: "lap " + string(input.n).';
const LOOP = 'Write the variable and then the expression: "input.list.map(x, x * 2)".';
const TIMES = 'The time of the execution is in "timestamp", "date" and "unix".';
const CHANCE =
  'The same values always give the same result, so nothing here is random: let the input bring it.';
const PATTERN =
  'Put a pattern on the attribute or the contract, or write "contains", "startsWith" or "endsWith".';
const DECIMALS = 'For two decimals write "math.round(x * 100.0) / 100.0".';
const SUM = 'Nothing here adds up a list. Keep the sum in an attribute, which { "$increment": n } changes.';
const JOINED = 'Write "list + [x]", or { "$append": x } as the value of the attribute.';
const CUT = 'Write "substring(start, end)" for a part of a text; lists have no such function.';
const REFUSED =
  'To refuse with a text for the caller write "input.n > 0 ? input.n : fail("n must be above 0")".';
const FILTER =
  'Values are not piped through filters: write a function, as in "input.text.upperAscii()", or "||" for "or".';
const BLOCK =
  'There are no blocks: write a condition as "input.a ? 1 : 2", and a loop as "input.list.map(x, x * 2)".';
const STEP =
  'An expression assigns nothing: write the new value, as in "input.n + 1", or { "$increment": 1 }.';

/** Functions and methods of JavaScript, Python and SQL, by what to write here. With `/n` for n arguments alone. */
const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['min', write('math.least')],
  ['max', write('math.greatest')],
  ['Math.min', write('math.least')],
  ['Math.max', write('math.greatest')],
  ...['abs', 'ceil', 'floor', 'round', 'sign', 'sqrt', 'trunc'].flatMap((name) => [
    [`Math.${name}`, write(`math.${name}`)] as const,
    [`${name}/0`, write(`math.${name}(x)`)] as const,
  ]),
  ...['pow', 'Math.pow', 'math.pow', 'power'].map((name) => [name, POWER] as const),
  ...['round/2', 'math.round/2', 'toFixed'].map((name) => [name, DECIMALS] as const),
  ...['sum', 'reduce', 'avg'].map((name) => [name, SUM] as const),
  ['Number.isNaN', write('math.isNaN')],
  ['Number.isFinite', write('math.isFinite')],
  ['Number.isInteger', write('x == math.trunc(x)')],
  ['Number', write('double')],
  ['parseFloat', write('double')],
  ['float', write('double')],
  ['parseInt', write('int(x)')],
  ['String', write('string')],
  ['str', write('string')],
  ['toString', write('string(x)')],
  ['Boolean', write('bool')],
  ['typeof', write('type')],
  ['Array.isArray', write('type(x) == list')],
  ['not', write('!')],
  ['if', write('a ? b : c')],
  ['iif', write('a ? b : c')],
  ['len', write('size')],
  ['length', write('size')],
  ['count', write('size')],
  ['isEmpty', write('size(x) == 0')],
  ['includes', 'Write "contains" for a text, and "x in list" for a list.'],
  ['contains', 'Write "text.contains(x)" for a text, and "x in list" for a list.'],
  ['toLowerCase', write('lowerAscii')],
  ['toUpperCase', write('upperAscii')],
  ['lower', write('x.lowerAscii()')],
  ['upper', write('x.upperAscii()')],
  ['strip', write('trim')],
  ['startswith', write('startsWith')],
  ['endswith', write('endsWith')],
  ['replaceAll', write('replace')],
  ...['slice', 'substr', 'splice'].map((name) => [name, CUT] as const),
  ['concat', write('a + b')],
  ['format', TEXTS],
  ['JSON.stringify', 'A list or an object inside a longer text is written as JSON: "car: {{ input.car }}".'],
  ...['match', 'test', 'search'].map((name) => [name, PATTERN] as const),
  ...['push', 'append'].map((name) => [name, JOINED] as const),
  ...['some', 'any'].map((name) => [name, write('list.exists(x, x > 1)')] as const),
  ['every', write('list.all(x, x > 1)')],
  ['find', write('list.filter(x, x > 1)[0]')],
  ...['forEach', 'map/1', 'filter/1', 'all/1'].map((name) => [name, LOOP] as const),
  ['exists/1', write('has(a.b)', 'list.exists(x, x > 1)')],
  ['first', write('list[0]')],
  ['last', write('list[size(list) - 1]')],
  ['at', write('list[0]', 'list[size(list) - 1]')],
  ...['sort', 'sorted'].map((name) => [name, 'Nothing here sorts a list.'] as const),
  ...['keys', 'Object.keys'].map((name) => [name, write('object.map(k, k)')] as const),
  ...['values', 'Object.values'].map((name) => [name, write('object.map(k, object[k])')] as const),
  ...['items', 'Object.entries'].map((name) => [name, write('object.map(k, [k, object[k]])')] as const),
  ['get', write('has(a.b) ? a.b : 0', 'k in a ? a[k] : 0')],
  ...['has', 'hasOwnProperty', 'defined', 'isset'].map(
    (name) => [name, write('has(a.b)', 'k in a')] as const,
  ),
  ...['coalesce', 'ifnull', 'nvl'].map((name) => [name, ABSENT] as const),
  ...['now', 'Date.now', 'Date'].map((name) => [name, TIMES] as const),
  ...['assert', 'error', 'Error', 'raise', 'require'].map((name) => [name, REFUSED] as const),
  ['Date.parse', write('timestamp(x)')],
  ...['random', 'rand', 'Math.random', 'uuid', 'crypto.randomUUID'].map((name) => [name, CHANCE] as const),
]);

/** What to write for a function of another language: `Write "math.least".` for `Math.min`. SQL's are in capitals. */
export const functionHint = (name: string, args: number): string | undefined =>
  FUNCTIONS.get(`${name}/${args}`) ?? FUNCTIONS.get(name) ?? FUNCTIONS.get(name.toLowerCase());

const SCOPE = 'The caller\'s values are in "input", those of the instances that are read in "entities".';

const NAMES: ReadonlyMap<string, string> = new Map([
  ...['None', 'NULL', 'Null', 'nil'].map((name) => [name, write('null')] as const),
  ['undefined', 'Write "null", or "has(input.n)" for whether something is there.'],
  ...['True', 'TRUE'].map((name) => [name, write('true')] as const),
  ...['False', 'FALSE'].map((name) => [name, write('false')] as const),
  ...['this', 'self'].map((name) => [name, SCOPE] as const),
  ['Math', 'Functions of numbers are "math.floor", "math.round" and their like; a constant is written out.'],
  ['now', TIMES],
]);

/** What to write for a name of another language: `Write "null".` for `None`. */
export const nameHint = (name: string): string | undefined => NAMES.get(name);

/** How other languages read a size. An attribute may be called so, too. */
const SIZES: ReadonlySet<string> = new Set(['length', 'size', 'count', 'len']);

/** ` Write "size(input.list)".`, to follow a sentence, where `key` of `target` is how another language reads a size. */
export const sizeHint = (key: string, target: string): string =>
  SIZES.has(key) ? ` ${write(`size(${target.trim()})`)}` : '';

/** What is written in another language where an expression stops to parse, and what to write here. */
interface ForeignSyntax {
  /** Matched from where the parser stops; it may look back at what was taken. */
  readonly at: RegExp;
  readonly hint: string;
}

const SYNTAX: readonly ForeignSyntax[] = [
  { at: /(?<===)=/y, hint: 'Write "==" for "===".' },
  { at: /(?<=!=)=/y, hint: 'Write "!=" for "!==".' },
  { at: /=>|[,)][\w\s,)]{0,100}=>|(?<=\blambda\s{1,9})\w|function\b|for\b/y, hint: LOOP },
  { at: /(?<=[-+*/%])=/y, hint: STEP },
  { at: /=(?!=)/y, hint: 'Write "==" to compare; an expression assigns nothing.' },
  { at: /(?<=\+)\+|\+\+|(?<=--\s{0,9})$/y, hint: STEP },
  { at: /\+/y, hint: 'No "+" stands before a value. For the number in a text write "double(input.text)".' },
  { at: /(?<=\*)\*/y, hint: POWER },
  { at: /\^/y, hint: POWER },
  { at: /(?<=<)>/y, hint: 'Write "!=" for "<>".' },
  { at: /(?<=-)>/y, hint: 'Write "." for "->".' },
  { at: /and\b/iy, hint: 'Write "&&" for "and".' },
  { at: /&(?!&)/y, hint: 'Write "&&" for "&".' },
  { at: /or\b/iy, hint: 'Write "||" for "or".' },
  { at: /\|\s{0,9}[a-z]\w{0,99}(?![\w.[])/iy, hint: FILTER },
  { at: /\|(?!\|)/y, hint: 'Write "||" for "|".' },
  { at: /(?<=^\s{0,9})(?:#|\/(?=[a-z])|else\b)/iy, hint: BLOCK },
  { at: /xor\b/iy, hint: 'Write "!=" for "xor".' },
  { at: /mod\b/iy, hint: 'Write "%" for "mod".' },
  { at: /not\s+in\b/iy, hint: 'Write "!(x in list)" for "not in".' },
  { at: /(?<=\bnot\s{1,9})\S/iy, hint: 'Write "!" for "not".' },
  { at: /is\s+not\b/iy, hint: 'Write "!=" for "is not".' },
  { at: /is\b/iy, hint: 'Write "==" for "is".' },
  { at: /between\b/iy, hint: 'For "between" write "1 <= input.n && input.n <= 3".' },
  { at: /i?like\b/iy, hint: PATTERN },
  { at: /if\b|when\b/iy, hint: 'Write a condition as "input.a ? 1 : 2".' },
  { at: /(?<=\btypeof\s{1,9})\S/y, hint: 'Write "type(x)" for "typeof x".' },
  { at: /(?<=\b(?:throw|raise|assert)\s{1,9})\w/y, hint: REFUSED },
  { at: /(?<=\bnew\s{1,9})Date\b/y, hint: TIMES },
  { at: /return\b/y, hint: 'Leave out "return": an expression is its value.' },
  {
    at: /(?:let|const|var)\b|;/y,
    hint: 'An expression is one value without statements. For a value with a name write "cel.bind(x, input.n, x + 1)".',
  },
  { at: /`|(?<=\bf)["']/y, hint: TEXTS },
  { at: /\$\{/y, hint: 'Write "input.n" for "$' + '{input.n}": the braces {{ … }} are enough.' },
  { at: /\$/y, hint: 'Leave out the "$".' },
  { at: /(?<=\?)\?/y, hint: `For "??" ${DEFAULT}` },
  { at: /(?<=\?)\./y, hint: `For "?." ${DEFAULT}` },
  { at: /(?<=\?\s{0,9}):/y, hint: `For "?:" ${DEFAULT}` },
  { at: /\.\.\./y, hint: 'For "..." add lists, as in "input.list + [4]".' },
  { at: /\.\d/y, hint: 'Write the zero before the dot, as in "0.5".' },
  { at: /(?<=\d)_/y, hint: 'Write the number without "_".' },
];

/** What to write for the syntax of another language at which an expression stops to parse. */
export const syntaxHint = (source: string, start: number): string | undefined =>
  SYNTAX.find(({ at }) => {
    at.lastIndex = start;
    return at.test(source);
  })?.hint;
