import { canonicalJson, type Evaluator, type JsonObject, type JsonValue } from '@orrery/contracts';
import { functionNames } from '@orrery/expressions';
import { decideExecution } from './execute-event.js';
import { executionOf, viewOf } from './execution.test-support.js';

/** One execution: what it runs, on what, and what came of it. Unset members are left out. */
export interface CorpusCase {
  readonly parts: Parameters<typeof executionOf>[0];
  readonly input: JsonObject;
  readonly states: Parameters<typeof viewOf>[0];
  /** Tells it from others that run the same. */
  readonly name?: string;
}

/** Two attributes of each type, one with a default and constraints. */
export const ATTRIBUTES = {
  horse: {
    n: ['integer', { defaultValue: 1, constraints: { min: -5, max: 20 } }],
    f: 'float',
    s: ['string', { defaultValue: 'x', constraints: { pattern: '^[a-zé]*$' } }],
    e: ['string', { constraints: { enum: ['a', 'b'] } }],
    b: 'boolean',
    j: ['json', { defaultValue: [] }],
    q: ['integer', { constraints: { required: true } }],
  },
} as unknown as NonNullable<CorpusCase['parts']['schemas']>;

const INPUT: JsonObject = {
  id: 'H1',
  n: 3,
  f: 2.5,
  t: 'Zoë 😀 b',
  list: [3, 1, 2],
  texts: ['b', 'a'],
  map: { a: 1, b: { c: [true, null] } },
  none: null,
};
const STATES = {
  horse: { H1: { n: 2, f: 0.1, s: 'ab', e: 'a', b: true, j: [1, { k: 'v' }], q: 7 }, H2: { q: 1 } },
};

const TEXTS = ['input.t', '"abcabc"', '"b"', '""'];
const NUMBERS = ['0', '-3', '7', '2.5', 'input.n', '1e308', '9223372036854775807'];
const LISTS = ['input.list', '["b", "a"]', '[]'];
const TIMES = [
  'timestamp("2024-02-29T23:59:59.5Z")',
  'timestamp(0)',
  'timestamp',
  'duration("90m1.5s")',
  '"Europe/Berlin"',
];
const OTHERS = ['true', 'null', 'input.map', 'input.map.b.c', 'input.absent', 'entities.horse.H1', 'caller'];
const VALUES = [...TEXTS, ...NUMBERS, ...LISTS, ...TIMES, ...OTHERS];
const BINARY = ['+', '-', '*', '/', '%', '==', '!=', '<', '<=', '>', '>=', '&&', '||', 'in'];

/** Every function and method with values of every kind, then operators, macros and accesses. */
function expressions(): string[] {
  const macros = ['has', 'map', 'filter', 'all', 'exists', 'exists_one'];
  const isDraw = (name: string) => name.startsWith('random.');
  const names = [...new Set(functionNames)].filter((name) => !macros.includes(name) && !isDraw(name));
  const calls = names.flatMap((name) => [
    ...VALUES.map((value) => `${name}(${value})`),
    ...(name.startsWith('math.')
      ? NUMBERS.map((value) => `${name}(${value}, 4, -1.5)`)
      : VALUES.flatMap((value) => [
          `${value}.${name}()`,
          ...[...TEXTS, '1', '"Asia/Kolkata"'].map((other) => `${value}.${name}(${other})`),
          ...[...TEXTS.slice(0, 2), '1'].map((other) => `${value}.${name}(${other}, 2)`),
        ])),
    `input.t.${name}("b", "-", 1)`,
  ]);
  const operations = BINARY.flatMap((operator) =>
    VALUES.flatMap((left) =>
      ['input.n', '2', '0', '"b"', 'input.list', 'timestamp(5)', 'true'].map(
        (right) => `${left} ${operator} ${right}`,
      ),
    ),
  );
  const rest = VALUES.flatMap((value) => [
    `-${value}`,
    `!${value}`,
    `${value} ? 1 : 2`,
    `${value}.map(x, [x, 1])`,
    `${value}.filter(x, x != 1)`,
    `${value}.all(x, x > 0)`,
    `${value}.exists(x, x == "a")`,
    `${value}.exists_one(x, x == 1)`,
    `${value}.map(x, x != 2, x)`,
    `${value}[0]`,
    `${value}["a"]`,
    `{"k": ${value}}`,
    `[${value}, ${value}]`,
  ]);
  const access = [
    'has(input.map.a)',
    'has(input.absent)',
    'has(entities.horse.H9)',
    'input["id"]',
    'entities.horse[input.id].n',
  ];
  const types = VALUES.flatMap((value) =>
    ['int', 'string', 'list', 'null_type'].map((type) => `type(${value}) == ${type}`),
  );
  const times = [...TIMES, 'timestamp(timestamp)'].flatMap((time) =>
    ['+', '-'].flatMap((operator) =>
      [...TIMES, 'timestamp(timestamp)'].map((other) => `string(${time} ${operator} ${other})`),
    ),
  );
  return [...calls, ...operations, ...rest, ...access, ...types, ...times];
}

/** Expressions that many cases share one execution with would hide each other's failures: each has its own. */
const ofExpression = (expression: string): CorpusCase => ({
  parts: {
    schemas: ATTRIBUTES,
    readEntities: [{ schema: 'horse' }],
    template: { result: { r: `{{ ${expression} }}` } },
  },
  input: INPUT,
  states: STATES,
});

const OPERANDS: JsonValue[] = [
  1,
  -7,
  0.5,
  30,
  'a',
  'É',
  true,
  null,
  [1],
  { k: 2 },
  '{{ input.n }}',
  '{{ input.list }}',
  '{{ input.absent }}',
  { $unset: true },
];
const GUARDS = [
  undefined,
  { maxInstances: 0 },
  { maxDelta: { n: 2, f: 1 } },
  { deny: ['s', 'j'] },
  { create: false },
  { delete: false },
];

function changes(): CorpusCase[] {
  const values = OPERANDS.flatMap((operand): JsonValue[] => [
    operand,
    ...['$set', '$merge', '$increment', '$append', '$unset'].map((operator) => ({ [operator]: operand })),
  ]);
  const members = Object.keys(ATTRIBUTES['horse'] ?? {}).concat('unknown');
  const one = values.flatMap((value) => members.map((member) => ({ [member]: value })));
  const changed: JsonValue[] = [
    { q: 4 },
    { n: 9, f: 9 },
    { s: 'b', j: [2] },
    { $delete: true },
    null,
    {},
    'x',
  ];
  const modes = ['partial', 'full', 'append'] as const;
  const of = (id: string, change: JsonValue, parts: object = {}): CorpusCase => ({
    parts: {
      schemas: ATTRIBUTES,
      template: { stateChanges: { [`horse:${id}`]: change }, result: { ok: true } },
      ...parts,
    },
    input: INPUT,
    states: STATES,
  });
  return [
    ...one.map((change) => of('H1', change)),
    ...['H1', 'H2', 'NEW', '{{ input.id }}', 'é/😀', ''].flatMap((id) =>
      changed.flatMap((change) =>
        modes.flatMap((mode) =>
          GUARDS.map((guards) =>
            of(id, change, { stateChanges: { horse: mode }, ...(guards && { guards }) }),
          ),
        ),
      ),
    ),
  ];
}

/** Contracts, filters and conditions. */
function surroundings(): CorpusCase[] {
  const contracts: JsonObject[] = [
    { id: 'string' },
    { id: 'integer' },
    { missing: 'string' },
    { type: 'object', required: ['n'], properties: { n: { type: 'integer', maximum: 2 } } },
    { type: 'object', additionalProperties: false },
  ];
  const template = { result: { ids: '{{ entities.horse.map(id, id) }}', id: '{{ input.id }}' } };
  const reads = [
    { schema: 'horse', filter: ['id'] },
    { schema: 'horse', filter: ['texts', 'absent'] },
    { schema: 'horse', filter: ['map'] },
    { schema: 'horse', where: 'instance.q > 1', orderBy: 'q desc', limit: 1 },
    { schema: 'horse', where: 'instance.n == input.n - 1' },
    { schema: 'horse', orderBy: 'n, q desc', limit: 2 },
  ];
  const made = (parts: object): CorpusCase => ({
    parts: { schemas: ATTRIBUTES, template, readEntities: [{ schema: 'horse' }], ...parts },
    input: INPUT,
    states: STATES,
  });
  return [
    ...contracts.map((inputSchema) => made({ inputSchema })),
    ...contracts.map((outputSchema) => made({ outputSchema })),
    ...reads.map((read) => made({ readEntities: [read] })),
  ];
}

/** Every function that draws, with values of every kind. They stand at the end, so that the cases before stay as they were. */
function drawingExpressions(): string[] {
  const dice = [...VALUES, '1', '6', '-9007199254740991', '9007199254740991'];
  return [
    ...dice.flatMap((from) =>
      ['6', 'input.n', '9007199254740991', '2.5'].map((to) => `random.int(${from}, ${to})`),
    ),
    ...[...VALUES, '[1, 2, 3, 4, 5, 6, 7]', '[[1], {"a": 2}]'].flatMap((value) => [
      `random.pick(${value})`,
      `random.shuffle(${value})`,
      `[random.shuffle(${value}), random.float()]`,
    ]),
    'random.float()',
    '[random.float(), random.int(0, 1), random.float()]',
    'input.list.map(x, random.int(0, int(x)))',
    'cel.bind(d, random.int(1, 6), [d, d])',
    'random.int(6, 1) == 1 || random.int(1, 6) > 0',
    '{"b": random.int(1, 100), "a": random.int(1, 100)}',
  ];
}

/** Draws in the places where they may stand, in an order that the template does not have. */
function drawing(): CorpusCase[] {
  const roll = '{{ random.int(1, 100) }}';
  const template = {
    stateChanges: {
      'horse:H{{ random.int(1, 2) }}': { q: roll, j: { $append: [roll, { z: roll, a: roll }] } },
      'horse:A{{ random.int(1, 100) }}': { q: roll, f: '{{ random.float() }}' },
    },
    result: { text: `${roll} of ${roll}`, ids: '{{ random.shuffle(entities.horse.map(id, id)) }}' },
  };
  const followUps = [
    { event: 'next', after: 'PT{{ random.int(1, 59) }}M', when: '{{ random.int(0, 1) == 0 }}' },
  ];
  const made = (parts: object): CorpusCase => ({
    parts: { schemas: ATTRIBUTES, template, readEntities: [{ schema: 'horse' }], ...parts },
    input: INPUT,
    states: STATES,
  });
  return [made({}), made({ followUps }), made({ stateChanges: { horse: 'full' } })];
}

export const corpusCases = (): CorpusCase[] => [
  ...expressions().map(ofExpression),
  ...changes(),
  ...surroundings(),
  ...drawingExpressions().map(ofExpression),
  ...drawing(),
];

/** The same object with its members made in several orders; JavaScript itself takes whole numbers first. */
const KEYS = ['b', 'a', 'B', '10', '9', 'é', '\u{1F40E}', '\uFFEE'];
const ORDERS = [KEYS, KEYS.toReversed(), KEYS.toSorted()];

const ORDERED = [
  'input.map.map(k, k)',
  'input.map.filter(k, input.map[k] > 2)',
  'input.map.map(k, input.map[k] > 2, k)',
  'input.map.map(k, random.int(1, 100))',
  'random.shuffle(input.map.map(k, k))',
  '[input.map.map(k, k)[0], input]',
  'string(size(input.map))',
  'entities.horse.map(id, id)',
  'entities.horse.map(id, entities.horse[id].map(k, k))',
  'entities.map(schema, schema)',
  'entities.horse.H1.j.map(k, k)',
  '{"z": input.map.map(k, k), "y": 1}',
];

/** What goes through objects, by each order of their members: all orders of one have one outcome. */
export const orderedCases = (): CorpusCase[][] => {
  const templates: JsonObject[] = [
    ...ORDERED.map((expression) => ({ result: { r: `{{ ${expression} }}` } })),
    { result: { r: 'It is {{ input }}.' } },
    { result: { r: '{{ entities.horse }}, all of them' } },
    { stateChanges: { 'horse:{{ input.map.map(k, k)[0] }}': { q: 1 } } },
    { stateChanges: '{{ input.changes }}' },
    { stateChanges: { 'horse:H1': { q: 1 } } },
  ];
  const template = (keys: readonly string[]) => ({
    stateChanges: inOrder(keys, {
      a: ['horse:H1', { n: { $append: 1 } }],
      b: ['horse:NONE', { $delete: true }],
    }),
  });
  return [
    ...templates.map((one) => ORDERS.map((keys) => inOrderOf(keys, one))),
    ORDERS.map((keys) => inOrderOf(keys, template(keys))),
  ];
};

function inOrderOf(keys: readonly string[], template: JsonObject): CorpusCase {
  const objectOf = <T>(value: (key: string) => T) => Object.fromEntries(keys.map((key) => [key, value(key)]));
  const map = objectOf((key) => KEYS.indexOf(key));
  const changes = objectOf((key) => ({ q: KEYS.indexOf(key) }));
  const named = Object.fromEntries(Object.entries(changes).map(([key, change]) => [`horse:${key}`, change]));
  const state = inOrder(keys, { a: ['n', 2], b: ['q', 1], B: ['j', map], é: ['x', 1], '9': ['w', 2] });
  return {
    name: 'members in order',
    parts: {
      schemas: ATTRIBUTES,
      readEntities: [{ schema: 'horse', orderBy: 'q desc' }],
      stateChanges: { horse: 'full' },
      template,
    },
    input: inOrder(keys, { a: ['map', map], b: ['changes', named] }),
    states: { horse: { H1: state, '10': { q: 3 }, '9': { q: 3 }, b: { q: 9 }, a: { q: 0 } } },
  };
}

/** The members that stand at these keys, in the order of the keys. */
const inOrder = (keys: readonly string[], members: Record<string, [string, JsonValue]>): JsonObject =>
  Object.fromEntries(keys.flatMap((key) => (members[key] ? [members[key]] : [])));

/** What they draw from. */
const SOURCE = { take: () => ({ source: 'replayed' as const, seed: '5e'.repeat(32) }) };

/** Of failures of expressions, which are many and alike, the corpus keeps one in so many. */
export const KEPT_FAILURES = 8;

/** What an entry would say of it, in a line. Undefined: no version says this. */
export function outcomeOf({ parts, input, states }: CorpusCase, evaluator: Evaluator): string | undefined {
  let execution: ReturnType<typeof executionOf>;
  try {
    execution = { ...executionOf(parts, input), evaluator, randomness: SOURCE };
  } catch {
    return undefined;
  }
  const decision = decideExecution(execution, viewOf(states));
  if (decision.kind === 'needs') return 'needs';
  return decision.kind === 'succeeded'
    ? canonicalJson({
        changes: decision.changes.map(({ state: _, ...change }) => ({ ...change })),
        result: decision.result,
        ...(decision.followUps && { followUps: decision.followUps }),
      } as unknown as JsonValue)
    : `${decision.kind}: ${decision.error.code}`;
}
