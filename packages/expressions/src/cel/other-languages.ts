/** Functions and methods of JavaScript and Python, by the CEL ones that do the same. */
const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['min', 'math.least'],
  ['max', 'math.greatest'],
  ['Math.min', 'math.least'],
  ['Math.max', 'math.greatest'],
  ...['abs', 'ceil', 'floor', 'round', 'sign', 'sqrt', 'trunc'].map(
    (name) => [`Math.${name}`, `math.${name}`] as const,
  ),
  ['Number.isNaN', 'math.isNaN'],
  ['Number.isFinite', 'math.isFinite'],
  ['Number', 'double'],
  ['parseFloat', 'double'],
  ['float', 'double'],
  ['parseInt', 'int'],
  ['String', 'string'],
  ['str', 'string'],
  ['Boolean', 'bool'],
  ['len', 'size'],
  ['includes', 'contains'],
  ['toLowerCase', 'lowerAscii'],
  ['toUpperCase', 'upperAscii'],
  ['some', 'exists'],
  ['every', 'all'],
]);

/** The CEL function that does what another language's does: `math.least` for `Math.min`. */
export const counterpartOf = (name: string): string | undefined => FUNCTIONS.get(name);

/** An operator of another language, and how many of its characters the parser has taken when it stops. */
interface ForeignOperator {
  readonly written: string;
  readonly taken: number;
  readonly hint: string;
}

const OPERATORS: readonly ForeignOperator[] = [
  { written: '===', taken: 2, hint: 'Write "==" for "===".' },
  { written: '!==', taken: 2, hint: 'Write "!=" for "!==".' },
  { written: '= ', taken: 0, hint: 'Write "==" to compare; an expression assigns nothing.' },
  { written: 'and ', taken: 0, hint: 'Write "&&" for "and".' },
  { written: 'or ', taken: 0, hint: 'Write "||" for "or".' },
  { written: '??', taken: 1, hint: 'For "??" write a condition, as in "has(input.n) ? input.n : 0".' },
];

/** What to write for the operator of another language at which an expression stops to parse. */
export const operatorHint = (source: string, start: number): string | undefined =>
  OPERATORS.find(({ written, taken }) => source.startsWith(written, start - taken))?.hint;
