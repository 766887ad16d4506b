import { scope } from './hostile-expressions.js';

/** Draws numbers from 0 to 1; the same seed gives the same ones (a linear congruential generator of 32 bits). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Kind = 'any' | 'text' | 'number' | 'flag' | 'list' | 'map' | 'moment';
type Kinds = readonly Kind[];

const marks = '\u0315'.repeat(1_000) + '\u0316'.repeat(1_000);

/** The names that expressions read: those at the limits, and keys, maps and texts that cost the most to look up. */
export const names = {
  ...scope,
  marks,
  doubleMarks: '\u0344'.repeat(2_000),
  greek: '\u03b9\u0308\u0301'.repeat(600),
  manyMarks: marks.repeat(100),
  markMap: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`\u0315\u0316${i}`, i])),
  markTexts: Array.from({ length: 2_000 }, (_, i) => `${marks.slice(0, 1_900)}${i}`),
  maps: Array.from({ length: 200 }, () => scope.object),
  times: Array.from({ length: 2_000 }, (_, i) => `2024-01-01T00:00:${String(i % 60).padStart(2, '0')}Z`),
  tiny: 5e-324,
  huge: 1.7e308,
  nothing: null,
};

const LEAVES: Readonly<Record<Exclude<Kind, 'any'>, readonly string[]>> = {
  text: [
    'text',
    'otherEnd',
    'half',
    'halfWithMiddle',
    'sixtyFour',
    'periodic',
    'spaces',
    'emoji',
    'mixedCase',
    'accents',
    'digits',
    'marks',
    'doubleMarks',
    'greek',
    'manyMarks',
    '""',
    '"a"',
    '"ab"',
    '"k7"',
    '"Europe/Vienna"',
    '"1h2m"',
    '"2024-01-01T00:00:00Z"',
  ],
  number: [
    '0',
    '1',
    '-1',
    '3',
    '1000',
    '200000',
    '0.5',
    'tiny',
    'huge',
    '9223372036854775807',
    'numbers[19999]',
  ],
  flag: ['true', 'false'],
  list: [
    'numbers',
    'texts',
    'longTexts',
    'longTexts2',
    'objects',
    'nested',
    'markTexts',
    'maps',
    'times',
    '[]',
    '[1]',
  ],
  map: ['object', 'markMap', '{}', '{"a": 1}', 'objects[3]', 'maps[7]'],
  moment: [
    'timestamp("2024-01-01T00:00:00Z")',
    'timestamp(0)',
    'duration("1h")',
    'duration("-315576000000s")',
  ],
};

/** Each operator, function, method and macro: what it makes, what it takes at each `$`, how it is written. */
const FORMS: readonly (readonly [Kind, Kinds, string])[] = [
  ...(['+', '-', '*', '/', '%'] as const).map(
    (sign) => ['number', ['number', 'number'], `($ ${sign} $)`] as const,
  ),
  ...(['<', '<=', '>', '>='] as const).flatMap((sign) =>
    (['text', 'number', 'moment'] as const).map((kind) => ['flag', [kind, kind], `($ ${sign} $)`] as const),
  ),
  ...(['==', '!='] as const).flatMap((sign) =>
    (['text', 'list', 'map', 'any'] as const).map((kind) => ['flag', [kind, kind], `($ ${sign} $)`] as const),
  ),
  ...(
    [
      'getFullYear',
      'getMonth',
      'getDate',
      'getDayOfMonth',
      'getDayOfWeek',
      'getDayOfYear',
      'getHours',
      'getMinutes',
      'getSeconds',
      'getMilliseconds',
    ] as const
  ).flatMap((part) => [
    ['number', ['moment'], `$.${part}()`] as const,
    ['number', ['moment', 'text'], `$.${part}($)`] as const,
  ]),
  ...(['abs', 'ceil', 'floor', 'round', 'trunc', 'sign', 'sqrt'] as const).map(
    (name) => ['number', ['number'], `math.${name}($)`] as const,
  ),
  ...(['isNaN', 'isInf', 'isFinite'] as const).map(
    (name) => ['flag', ['number'], `math.${name}($)`] as const,
  ),
  ...(['greatest', 'least'] as const).flatMap((name) => [
    ['number', ['list'], `math.${name}($)`] as const,
    ['number', ['number', 'number', 'number'], `math.${name}($, $, $)`] as const,
  ]),
  ...(['lowerAscii', 'upperAscii', 'trim', 'reverse'] as const).map(
    (name) => ['text', ['text'], `$.${name}()`] as const,
  ),
  ...(['contains', 'startsWith', 'endsWith'] as const).map(
    (name) => ['flag', ['text', 'text'], `$.${name}($)`] as const,
  ),
  ...(['indexOf', 'lastIndexOf'] as const).flatMap((name) => [
    ['number', ['text', 'text'], `$.${name}($)`] as const,
    ['number', ['text', 'text', 'number'], `$.${name}($, $)`] as const,
  ]),
  ...(['all', 'exists', 'exists_one', 'existsOne'] as const).flatMap((name) => [
    ['flag', ['list', 'flag'], `$.${name}(@, $)`] as const,
    ['flag', ['map', 'flag'], `$.${name}(@, $)`] as const,
  ]),
  ['list', ['list', 'flag'], '$.filter(@, $)'],
  ['list', ['list', 'any'], '$.map(@, $)'],
  ['list', ['list', 'text'], '$.map(@, $)'],
  ['list', ['list', 'flag', 'any'], '$.map(@, $, $)'],
  ['list', ['map', 'any'], '$.map(@, $)'],
  ['any', ['any', 'any'], 'cel.bind(@, $, $)'],
  ['text', ['text', 'text'], 'cel.bind(@, $, $)'],
  ['text', ['text', 'text'], '($ + $)'],
  ['list', ['list', 'list'], '($ + $)'],
  ['moment', ['moment', 'moment'], '($ + $)'],
  ['moment', ['moment', 'moment'], '($ - $)'],
  ['number', ['number'], '(-$)'],
  ['flag', ['flag'], '(!$)'],
  ['flag', ['flag', 'flag'], '($ && $)'],
  ['flag', ['flag', 'flag'], '($ || $)'],
  ['any', ['flag', 'any', 'any'], '($ ? $ : $)'],
  ['text', ['flag', 'text', 'text'], '($ ? $ : $)'],
  ['flag', ['any', 'list'], '($ in $)'],
  ['flag', ['text', 'map'], '($ in $)'],
  ['any', ['map', 'text'], '$[$]'],
  ['any', ['list', 'number'], '$[$]'],
  ['any', ['map'], '$.k1'],
  ['flag', ['map', 'text'], 'has($[$])'],
  ['flag', ['map'], 'has($.a)'],
  ['list', ['any', 'any', 'any'], '[$, $, $]'],
  ['list', ['text', 'text'], '[$, $]'],
  ['map', ['text', 'any', 'text', 'any'], '{$: $, $: $}'],
  ['text', ['text', 'number'], '$.charAt($)'],
  ['text', ['text', 'number'], '$.substring($)'],
  ['text', ['text', 'number', 'number'], '$.substring($, $)'],
  ['list', ['text', 'text'], '$.split($)'],
  ['list', ['text', 'text', 'number'], '$.split($, $)'],
  ['text', ['text', 'text', 'text'], '$.replace($, $)'],
  ['text', ['text', 'text', 'text', 'number'], '$.replace($, $, $)'],
  ['text', ['list'], '$.join()'],
  ['text', ['list', 'text'], '$.join($)'],
  ['number', ['any'], 'size($)'],
  ['number', ['text'], '$.size()'],
  ['number', ['text'], 'int($)'],
  ['number', ['text'], 'double($)'],
  ['flag', ['text'], 'bool($)'],
  ['text', ['any'], 'string($)'],
  ['text', ['moment'], 'string($)'],
  ['any', ['any'], 'dyn($)'],
  ['any', ['any'], 'type($)'],
  ['any', ['text'], 'fail($)'],
  ['moment', ['text'], 'timestamp($)'],
  ['moment', ['number'], 'timestamp($)'],
  ['moment', ['text'], 'duration($)'],
  ['number', ['number', 'number'], 'random.int($, $)'],
  ['number', [], 'random.float()'],
  ['any', ['list'], 'random.pick($)'],
  ['list', ['list'], 'random.shuffle($)'],
];

/** All that is written in the grammar, to see that it knows every function. */
export const grammar = FORMS.map(([, , written]) => written).join('\n');

const MOST_DEPTH = 5;
const OTHER_KIND = 0.01;
const ANY_KIND = 0.05;
const VARIABLE = 0.5;
const LEAF = 0.25;

/** An expression whose parts mostly have the types that they need, over the largest of what they take. */
export function randomExpression(random: () => number): string {
  const kinds = Object.keys(LEAVES) as Exclude<Kind, 'any'>[];
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const make = (wanted: Kind, depth: number, variables: readonly string[]): string => {
    const kind = wanted === 'any' || random() < OTHER_KIND ? pick(kinds) : wanted;
    if (variables.length > 0 && random() < VARIABLE / depth) return pick(variables);
    if (depth >= MOST_DEPTH || (depth > 1 && random() < LEAF)) return pick(LEAVES[kind]);
    return write(
      pick(FORMS.filter(([made]) => made === kind || (made === 'any' && random() < ANY_KIND))),
      depth,
      variables,
    );
  };
  const write = ([, takes, written]: (typeof FORMS)[number], depth: number, variables: readonly string[]) => {
    const variable = `v${depth}`;
    const isMacro = written.includes('@');
    let place = 0;
    return written.replace(/[$@]/g, (mark) => {
      if (mark === '@') return variable;
      const inner = isMacro && place > 0 ? [...variables, variable] : variables;
      const part = make(takes[place] ?? 'any', depth + 1, inner);
      place += 1;
      return part;
    });
  };
  return make('any', 1, []);
}
