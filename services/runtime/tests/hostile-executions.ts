import type { AttributeDefinition, JsonObject, JsonValue } from '@orrery/contracts';
import type { executionOf, viewOf } from '@orrery/deciding/test-support';

type Parts = Parameters<typeof executionOf>[0];
type States = Parameters<typeof viewOf>[0];

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const mapOf = <T>(count: number, make: (index: number) => T, key = 'k'): Record<string, T> =>
  Object.fromEntries(times(count, (i) => [`${key}${i}`, make(i)]));

const ids = times(500, (i) => `H${i}`);
const horses = (state: (index: number) => JsonObject): States => ({
  horse: Object.fromEntries(ids.map((id, i) => [id, state(i)])),
});
/** The same change of all 500 instances that the input names. */
const each = (change: JsonValue): JsonObject => Object.fromEntries(ids.map((id) => [`horse:${id}`, change]));
const attributes = (
  count: number,
  type: AttributeDefinition['type'],
  rest: Partial<AttributeDefinition> = {},
): Record<string, [AttributeDefinition['type'], Partial<AttributeDefinition>]> =>
  mapOf(count, () => [type, rest], 'a');

const text = (length: number) => 'a'.repeat(length);
const KiB64 = 65_000;

/** Executions at their limits: 64 KiB of input and of each state, 500 instances read or changed. */
export const executions: readonly [string, Parts, JsonObject, States][] = [
  [
    'reading 500 instances of 64 KiB',
    {
      readEntities: [{ schema: 'horse' }],
      template: { result: { sizes: '{{ entities.horse.map(id, size(entities.horse[id].a0)) }}' } },
    },
    {},
    horses(() => ({ a0: text(KiB64) })),
  ],
  [
    'comparing 500 instances of 64 KiB',
    {
      readEntities: [{ schema: 'horse' }],
      template: { result: { same: '{{ entities.horse.all(id, entities.horse[id] == entities.horse.H0) }}' } },
    },
    {},
    horses((i) => ({ a0: text(KiB64 - 3) + (i === 499 ? 'b' : 'c') })),
  ],
  [
    'selecting by many filters',
    {
      readEntities: times(500, () => ({ schema: 'horse', filter: times(32, () => 'list') })),
      template: {},
    },
    { list: times(9_000, () => 'H1') },
    horses(() => ({})),
  ],
  [
    'changing 500 instances of one text',
    { template: each({ n: 1 }) },
    {},
    horses(() => ({ a0: text(KiB64) })),
  ],
  [
    'changing 500 instances of many attributes',
    { template: each({ n: 1 }) },
    {},
    horses(() => mapOf(5_000, (i) => i)),
  ],
  [
    'changing 500 instances of as many attributes as is allowed',
    { template: each({ n: 1 }) },
    {},
    horses(() => mapOf(199, (i) => i)),
  ],
  [
    'changing few instances of many attributes',
    { template: each({ n: 1 }) },
    {},
    { horse: Object.fromEntries(ids.slice(0, 18).map((id) => [id, mapOf(5_000, (i) => i)])) },
  ],
  [
    'changing 500 instances of nested values',
    { template: each({ n: 1 }) },
    {},
    horses(() => ({ a0: times(2_000, (i) => ({ a: [i, { b: 'x' }] })) })),
  ],
  [
    'appending to 500 lists',
    { stateChanges: { horse: 'append' }, template: each({ a0: 1 }) },
    {},
    horses(() => ({ a0: times(10_000, (i) => i) })),
  ],
  [
    'creating 500 instances with 200 defaults',
    { schemas: { horse: attributes(200, 'integer', { defaultValue: 1 }) }, template: each({ a0: 1 }) },
    {},
    {},
  ],
  [
    'creating 500 instances with large defaults',
    {
      schemas: { horse: attributes(4, 'json', { defaultValue: mapOf(500, (i) => i) }) },
      template: each({ a0: 1 }),
    },
    {},
    {},
  ],
  [
    'reading 500 instances with 200 defaults',
    {
      schemas: { horse: attributes(200, 'json', { defaultValue: { a: [1] } }) },
      readEntities: [{ schema: 'horse' }],
      template: {},
    },
    {},
    horses(() => ({})),
  ],
  [
    'guarding 200 attributes of 500 instances',
    {
      schemas: { horse: attributes(200, 'integer', { defaultValue: 1 }) },
      guards: { deny: times(199, (i) => `a${i + 1}`), maxDelta: mapOf(10_000, () => 5, 'a') },
      template: each({ a0: 2 }),
    },
    {},
    horses(() => ({})),
  ],
  [
    'guarding large attributes that stay',
    {
      guards: { deny: ['a0'] },
      stateChanges: { horse: 'append' },
      template: each({ a0: [] }),
    },
    {},
    horses(() => ({ a0: times(10_000, (i) => i) })),
  ],
  [
    'patterns of 500 instances',
    {
      schemas: { horse: attributes(4, 'string', { constraints: { pattern: '\\p{L}{500}' } }) },
      template: each({ a0: '{{ input.text }}', a1: '{{ input.text }}' }),
    },
    { text: 'ab'.repeat(120) },
    {},
  ],
  [
    'patterns of 500 instances with long texts',
    {
      schemas: { horse: attributes(200, 'string', { constraints: { pattern: '^[a-z]{1,255}$' } }) },
      template: each({ a0: 'x' }),
    },
    {},
    horses(() => mapOf(200, () => text(250), 'a')),
  ],
  [
    'an input and a result at their limits',
    {
      inputSchema: { list: 'integer[]' },
      outputSchema: { list: 'integer[]' },
      template: { result: { list: '{{ input.list }}' } },
    },
    { list: times(11_000, (i) => i) },
    {},
  ],
  [
    'a result that is too large',
    { template: { result: { list: '{{ input.list.map(x, input.list) }}' } } },
    { list: times(11_000, (i) => i) },
    {},
  ],
  [
    '1,000 placeholders',
    {
      readEntities: [{ schema: 'horse' }],
      template: { result: { list: times(1_000, () => '{{ entities.horse.H1.a0.contains("ab") }}') } },
    },
    {},
    horses(() => ({ a0: text(KiB64) })),
  ],
];
