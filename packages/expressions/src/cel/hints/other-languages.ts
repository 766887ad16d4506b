import type { ParseError } from '@marcbachmann/cel-js';
import { asSentence, quoted } from '../../messages/error-text.js';

const write = (...what: readonly string[]) => `Write ${what.map((one) => `"${one}"`).join(' or ')}.`;

const POWER = 'For a power write the product, as in "input.n * input.n".';
const DEFAULT = 'write a condition, as in "has(input.n) ? input.n : 0".';
const ABSENT = `For a value in place of an absent one ${DEFAULT}`;
const TEXTS =
  'Write the placeholders into the text, as in "lap {{ input.n }}", or add texts: "lap " + string(input.n).';
const LOOP = 'Write the variable and then the expression: "input.list.map(x, x * 2)".';
const TIMES = 'The time of the execution is in "timestamp", "date" and "unix".';
const CHANCE =
  'Write "random.int(1, 6)" for a whole number, "random.float()", "random.pick(list)" or "random.shuffle(list)".';
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

const byName = (
  hints: readonly (readonly [hint: string, ...names: string[]])[],
): ReadonlyMap<string, string> =>
  new Map(hints.flatMap(([hint, ...names]) => names.map((name) => [name, hint] as const)));

const MATHS = ['abs', 'ceil', 'floor', 'round', 'sign', 'sqrt', 'trunc'];

/** Functions and methods of JavaScript, Python and SQL, by what to write here. With `/n` for n arguments alone. */
const FUNCTIONS = byName([
  [write('math.least'), 'min', 'Math.min'],
  [write('math.greatest'), 'max', 'Math.max'],
  ...MATHS.map((name) => [write(`math.${name}`), `Math.${name}`] as const),
  ...MATHS.map((name) => [write(`math.${name}(x)`), `${name}/0`] as const),
  [POWER, 'pow', 'Math.pow', 'math.pow', 'power'],
  [DECIMALS, 'round/2', 'math.round/2', 'toFixed'],
  [SUM, 'sum', 'reduce', 'avg'],
  [write('math.isNaN'), 'Number.isNaN'],
  [write('math.isFinite'), 'Number.isFinite'],
  [write('x == math.trunc(x)'), 'Number.isInteger'],
  [write('double'), 'Number', 'parseFloat', 'float'],
  [write('int(x)'), 'parseInt'],
  [write('string'), 'String', 'str'],
  [write('string(x)'), 'toString'],
  [write('bool'), 'Boolean'],
  [write('type'), 'typeof'],
  [write('type(x) == list'), 'Array.isArray'],
  [write('!'), 'not'],
  [write('a ? b : c'), 'if', 'iif'],
  [write('size'), 'len', 'length', 'count'],
  [write('size(x) == 0'), 'isEmpty'],
  ['Write "contains" for a text, and "x in list" for a list.', 'includes'],
  ['Write "text.contains(x)" for a text, and "x in list" for a list.', 'contains'],
  [write('lowerAscii'), 'toLowerCase'],
  [write('upperAscii'), 'toUpperCase'],
  [write('x.lowerAscii()'), 'lower'],
  [write('x.upperAscii()'), 'upper'],
  [write('trim'), 'strip'],
  [write('startsWith'), 'startswith'],
  [write('endsWith'), 'endswith'],
  [write('replace'), 'replaceAll'],
  [CUT, 'slice', 'substr', 'splice'],
  [write('a + b'), 'concat'],
  [TEXTS, 'format'],
  ['A list or an object inside a longer text is written as JSON: "car: {{ input.car }}".', 'JSON.stringify'],
  [PATTERN, 'match', 'test', 'search'],
  [JOINED, 'push', 'append'],
  [write('list.exists(x, x > 1)'), 'some', 'any'],
  [write('list.all(x, x > 1)'), 'every'],
  [write('list.filter(x, x > 1)[0]'), 'find'],
  [LOOP, 'forEach', 'map/1', 'filter/1', 'all/1'],
  [write('has(a.b)', 'list.exists(x, x > 1)'), 'exists/1'],
  [write('list[0]'), 'first'],
  [write('list[size(list) - 1]'), 'last'],
  [write('list[0]', 'list[size(list) - 1]'), 'at'],
  ['Nothing here sorts a list.', 'sort', 'sorted'],
  [write('object.map(k, k)'), 'keys', 'Object.keys'],
  [write('object.map(k, object[k])'), 'values', 'Object.values'],
  [write('object.map(k, [k, object[k]])'), 'items', 'Object.entries'],
  [write('has(a.b) ? a.b : 0', 'k in a ? a[k] : 0'), 'get'],
  [write('has(a.b)', 'k in a'), 'has', 'hasOwnProperty', 'defined', 'isset'],
  [ABSENT, 'coalesce', 'ifnull', 'nvl'],
  [TIMES, 'now', 'Date.now', 'Date'],
  [REFUSED, 'assert', 'error', 'Error', 'raise', 'require'],
  [write('timestamp(x)'), 'Date.parse'],
  [
    CHANCE,
    'random',
    'rand',
    'Math.random',
    'random.random',
    'randint',
    'random.randint',
    'random.choice',
    'random.uniform',
    'shuffle',
    'uuid',
    'crypto.randomUUID',
  ],
]);

/** What to write for a function of another language: `Write "math.least".` for `Math.min`. SQL's are in capitals. */
export const functionHint = (name: string, args: number): string | undefined =>
  FUNCTIONS.get(`${name}/${args}`) ?? FUNCTIONS.get(name) ?? FUNCTIONS.get(name.toLowerCase());

const SCOPE = 'The caller\'s values are in "input", those of the instances that are read in "entities".';

const NAMES = byName([
  [write('null'), 'None', 'NULL', 'Null', 'nil'],
  ['Write "null", or "has(input.n)" for whether something is there.', 'undefined'],
  [write('true'), 'True', 'TRUE'],
  [write('false'), 'False', 'FALSE'],
  [SCOPE, 'this', 'self'],
  ['Functions of numbers are "math.floor", "math.round" and their like; a constant is written out.', 'Math'],
  [TIMES, 'now'],
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
const syntaxHint = (source: string, start: number): string | undefined =>
  SYNTAX.find(({ at }) => {
    at.lastIndex = start;
    return at.test(source);
  })?.hint;

/** cel-js's names for what it reads, in the characters that authors write. */
const WRITTEN: Readonly<Record<string, string>> = {
  EOF: 'the end of the expression',
  RPAREN: '")"',
  LPAREN: '"("',
  RBRACKET: '"]"',
  LBRACKET: '"["',
  RBRACE: '"}"',
  LBRACE: '"{"',
  COLON: '":"',
  COMMA: '","',
  DOT: '"."',
  PLUS: '"+"',
  MINUS: '"-"',
  MULTIPLY: '"*"',
  DIVIDE: '"/"',
  MODULO: '"%"',
  LT: '"<"',
  LE: '"<="',
  GT: '">"',
  GE: '">="',
  EQ: '"=="',
  NE: '"!="',
  AND: '"&&"',
  OR: '"||"',
  NOT: '"!"',
  QUESTION: '"?"',
  IN: '"in"',
  IDENTIFIER: 'a name',
  NUMBER: 'a number',
  STRING: 'a text',
};

/** What is wrong with an expression that does not parse, and what to write instead where that is known. */
export function syntaxMessage(error: ParseError, source: string): string {
  if (source.trim() === '') return 'The placeholder is empty: write an expression, as in {{ input.id }}.';
  const start = error.range?.start ?? 0;
  const known =
    wordAsName(source, start) ??
    syntaxHint(source, start) ??
    halfChoice(error, source, start) ??
    stopAt(source, start);
  return known ?? leftOver(error, source, start) ?? asSentence(inWords(error.summary));
}

/** `input.in`, `input.1st`: no identifiers, so these names are reached in brackets. */
function wordAsName(source: string, start: number): string | undefined {
  const before = /([\w.]+)\.\s*$/.exec(endOf(source, start))?.[1];
  const word = /^[\w$]+/.exec(source.slice(start))?.[0];
  if (before === undefined || word === undefined) return undefined;
  return `"${word}" cannot follow a dot, since it is a word of the language or no identifier: write ${before}["${word}"].`;
}

/** What stands right before an offset; patterns that look back are slow on more. */
export const endOf = (source: string, start: number): string => source.slice(Math.max(0, start - 100), start);

/** A condition with one side; in an object a colon may belong to a key. */
function halfChoice({ summary }: ParseError, source: string, start: number): string | undefined {
  const asked = /\?[^{}?:]*$/.test(endOf(source, start));
  return asked && summary.startsWith('Expected COLON')
    ? 'A condition needs a value for either case: write "input.a ? 1 : 2", or "input.a ? 1 : null".'
    : undefined;
}

function stopAt(source: string, start: number): string | undefined {
  return source.slice(start).trim() === '' ? 'The expression ends too early.' : undefined;
}

/** cel-js names the last character of what is left over, such as the `D` of `AND`. */
function leftOver({ summary }: ParseError, source: string, start: number): string | undefined {
  if (!summary.startsWith("Unexpected character: '")) return undefined;
  const word = /^(?:\w+|.)/su.exec(source.slice(start))?.[0];
  return `Unexpected "${quoted(word ?? '')}" after a complete expression.`;
}

const inWords = (summary: string): string =>
  summary.replace(/\b[A-Z]{2,}\b/g, (token) => WRITTEN[token] ?? token);
