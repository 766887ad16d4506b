import type { JsonObject, JsonValue } from '@orrery/contracts';

/** Draws numbers from 0 to 1; the same seed gives the same ones (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Composed, decomposed, above the surrogates, and names that objects have by themselves. */
const KEYS = ['a', 'b', 'c', 'né', 'ne\u0301', '\u{1F40E}', 'x y', 'constructor', '0', '"q"', "it's"];
const TEXTS = [
  '',
  'a',
  'A',
  'ab',
  'b',
  'é',
  'e\u0301',
  'ß',
  'ss',
  '\uffee',
  '\u{1F40E}',
  '0',
  '1',
  '10',
  '2',
  'true',
  'null',
  "o'clock",
  '100%_\\',
  '2026-01-01T00:00:00Z',
  '2025-12-31T23:00:00-01:00',
  'x'.repeat(300),
  `${'x'.repeat(256)}b`,
  'a\n',
  ' a',
];
const NUMBERS = [
  0,
  -0,
  1,
  -1,
  2,
  3,
  10,
  0.1,
  0.2,
  0.3,
  1.5,
  -1.5,
  1e21,
  1e-7,
  5e-324,
  1.7976931348623157e308,
  -1e300,
  9007199254740991,
  9007199254740992,
  9007199254740994,
  2 ** 62,
  2 ** 63,
  1 / 3,
];
/** How conditions write numbers: as 64-bit ints and as doubles, some of which no double stands for. */
const WRITTEN = [
  '0',
  '1',
  '-1',
  '2',
  '3',
  '10',
  '1.0',
  '0.1',
  '0.3',
  '-1.5',
  '1e21',
  '5e-324',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '4611686018427387904',
  '9223372036854775807',
  '-9223372036854775808',
  '0.0',
  '-0.0',
];

export interface Draw {
  random(): number;
  pick<T>(from: readonly T[]): T;
}

export function drawFrom(random: () => number): Draw {
  return { random, pick: (from) => from[Math.floor(random() * from.length)] as never };
}

function randomValue({ random, pick }: Draw, depth: number): JsonValue {
  const at = random();
  if (at < 0.35) return pick(NUMBERS);
  if (at < 0.65) return pick(TEXTS);
  if (at < 0.75) return random() < 0.5;
  if (at < 0.82) return null;
  const size = depth > 2 ? 0 : Math.floor(random() * 4);
  if (at < 0.91) return Array.from({ length: size }, () => randomValue({ random, pick }, depth + 1));
  return randomState({ random, pick }, depth + 1, size);
}

export const randomState = (draw: Draw, depth = 0, size = 6): JsonObject =>
  Object.fromEntries(Array.from({ length: size }, () => [draw.pick(KEYS), randomValue(draw, depth)]));

const IDENTIFIER = /^[a-z]+$/;

function randomPath(draw: Draw): string {
  let path = draw.random() < 0.05 ? 'instance["a"]' : 'instance';
  for (let left = draw.random() < 0.8 ? 1 : 2; left > 0; left -= 1) {
    const key = draw.pick(KEYS);
    const step = draw.random() < 0.05 ? '[0]' : `[${JSON.stringify(key)}]`;
    path += IDENTIFIER.test(key) ? `.${key}` : step;
  }
  return path;
}

const constant = (draw: Draw): string => {
  const at = draw.random();
  if (at < 0.45) return draw.pick(WRITTEN);
  if (at < 0.85) return JSON.stringify(draw.pick(TEXTS));
  return draw.pick(['true', 'false', 'null']);
};

function operand(draw: Draw): string {
  const at = draw.random();
  if (at < 0.5) return randomPath(draw);
  if (at < 0.58) return 'id';
  return at < 0.98 ? constant(draw) : draw.pick(['[1, 2]', '{"a": 1}', 'size(instance)', 'instance']);
}

const COMPARISONS = ['==', '!=', '<', '<=', '>', '>='];

/** Tests that the evaluator alone makes. */
const COMPUTED: readonly ((draw: Draw) => string)[] = [
  (draw) => `${randomPath(draw)} * 2 > ${constant(draw)}`,
  (draw) => `size(${randomPath(draw)}) ${draw.pick(COMPARISONS)} 2`,
  (draw) => `timestamp(${randomPath(draw)}) ${draw.pick(COMPARISONS)} timestamp("2026-01-01T00:00:00Z")`,
  (draw) => `${randomPath(draw)}.exists(x, x == ${constant(draw)})`,
  (draw) => `(${test(draw)} ? ${test(draw)} : ${test(draw)})`,
  (draw) => `string(${randomPath(draw)}) == ${JSON.stringify(draw.pick(TEXTS))}`,
  () => 'fail("never")',
];

const TESTS: readonly ((draw: Draw) => string)[] = [
  (draw) => `${operand(draw)} ${draw.pick(COMPARISONS)} ${operand(draw)}`,
  (draw) => `${randomPath(draw)} ${draw.pick(COMPARISONS)} ${constant(draw)}`,
  (draw) => `has(${randomPath(draw)})`,
  (draw) => `${operand(draw)} in [${[constant(draw), constant(draw)].join(', ')}]`,
  (draw) => `${constant(draw)} in ${randomPath(draw)}`,
  (draw) =>
    `${draw.random() < 0.8 ? randomPath(draw) : 'id'}.${draw.pick(['contains', 'startsWith', 'endsWith'])}(${JSON.stringify(draw.pick(TEXTS))})`,
  (draw) => randomPath(draw),
  (draw) => (draw.random() < 0.1 ? `${operand(draw)} in []` : `has(${randomPath(draw)})`),
];

function test(draw: Draw): string {
  const at = draw.random();
  if (at < 0.04) return draw.pick(['true', 'false']);
  return draw.pick(at < 0.1 ? COMPUTED : TESTS)(draw);
}

/** A condition over the keys and values that random states have. */
export function randomCondition(draw: Draw, depth = 0): string {
  const at = draw.random();
  if (depth > 2 || at < 0.5) return test(draw);
  if (at < 0.65) return `!(${randomCondition(draw, depth + 1)})`;
  const both = [randomCondition(draw, depth + 1), randomCondition(draw, depth + 1)];
  return `(${both.join(at < 0.85 ? ' && ' : ' || ')})`;
}

/** An order over the keys that random states have, as it is written. */
export function randomOrder(draw: Draw): string {
  const keys = Array.from({ length: 1 + Math.floor(draw.random() * 3) }, () => {
    const key = draw.pick(KEYS);
    const name = draw.random() < 0.1 ? 'id' : IDENTIFIER.test(key) ? key : JSON.stringify(key);
    return `${name} ${draw.pick(['asc', 'desc', ''])}`;
  });
  return keys.join(', ');
}
