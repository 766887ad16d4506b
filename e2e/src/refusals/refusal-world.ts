import { type ApiClient, created } from '../api/api-client.js';
import { makeWorld, plant } from '../worlds/make-world.js';

/** A direct version; `parts` are its other fields. */
const direct = (template: object, parts: object = {}) => ({
  mutationSettings: { mode: 'direct', template },
  ...parts,
});
const horse = (change: object, parts: object = {}) =>
  direct({ 'horse:{{input.id}}': change }, { stateChanges: { horse: 'partial' }, ...parts });
const many = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`extra:{{input.id}}-${index}`, { n: index }]),
  );

/** One event for each way in which an execution can go wrong; all take any input unless they say otherwise. */
const versions = {
  fine: horse({ wins: { $increment: '{{input.by}}' } }, { inputSchema: { id: 'string', by: 'number' } }),
  nothing: {},
  strict: direct({}, { inputSchema: { id: 'string', laps: 'integer?', tags: 'string[]?' } }),
  incrementText: horse({ name: { $increment: 1 } }),
  appendNumber: horse({ wins: { $append: 1 } }),
  mergeList: horse({ tags: { $merge: { a: 1 } } }),
  mergeText: horse({ tags: { $merge: '{{input.text}}' } }),
  incrementByText: horse({ wins: { $increment: '{{input.text}}' } }),
  divide: horse({ speed: '{{ input.n / 0.0 }}' }),
  notANumber: horse({ speed: '{{ (input.n / 0.0) - (input.n / 0.0) }}' }),
  product: horse({ speed: '{{ input.n * input.n }}' }),
  missingKey: horse({ wins: '{{ input.absent }}' }),
  missingEntity: horse(
    { wins: '{{ entities.horse[input.id].wins + 1 }}' },
    { readEntities: [{ schema: 'horse', filter: ['id'] }] },
  ),
  badOperation: horse({ wins: '{{ input.text - 1 }}' }),
  anyKey: direct({ '{{input.key}}': { n: 1 } }, { stateChanges: { horse: 'partial' } }),
  sameKeys: direct({ 'horse:{{input.a}}': { wins: 1 }, 'horse:{{input.b}}': { wins: 2 } }),
  otherSchema: direct({ '{{ "extra" }}:{{input.id}}': { n: 1 } }, { stateChanges: { horse: 'partial' } }),
  remove: direct({ 'horse:{{input.id}}': { $delete: true } }),
  invalid: horse({ wins: '{{input.value}}' }),
  unsetRequired: horse({ name: { $unset: true } }),
  nullRequired: horse({ name: null }),
  badResult: direct(
    { stateChanges: {}, result: { winner: '{{input.winner}}' } },
    { outputSchema: { winner: 'string' } },
  ),
  largeText: horse({ note: '{{ [input.text, input.text, input.text].join("") }}' }),
  repeat: horse({ note: '{{ input.list.map(x, input.list.map(y, input.text)) }}' }),
  largeEntry: direct({
    stateChanges: {},
    result: { copies: '{{ [input.text, input.text, input.text, input.text, input.text] }}' },
  }),
  tooMany: direct(many(501)),
  fill: direct(many(500)),
  readAll: direct({}, { readEntities: [{ schema: 'extra' }] }),
  guarded: horse(
    { wins: { $increment: '{{input.by}}' }, name: '{{input.name}}' },
    { guards: { maxDelta: { wins: 2 }, deny: ['name'], create: false } },
  ),
  twoGuarded: direct({ 'horse:A': { wins: 1 }, 'horse:B': { wins: 1 } }, { guards: { maxInstances: 1 } }),
  keepGuarded: direct({ 'horse:{{input.id}}': { $delete: true } }, { guards: { delete: false } }),
  filtered: direct({}, { readEntities: [{ schema: 'horse', filter: ['who'] }] }),
};

const schemas = [
  {
    name: 'horse',
    attributes: [
      { name: 'wins', type: 'integer', defaultValue: 0, constraints: { min: 0 } },
      { name: 'speed', type: 'float' },
      {
        name: 'name',
        type: 'string',
        defaultValue: 'x',
        constraints: { required: true, pattern: '^[a-z]*$' },
      },
      { name: 'tags', type: 'json' },
      { name: 'colour', type: 'string', constraints: { enum: ['red', 'blue'] } },
    ],
  },
  { name: 'extra', attributes: [{ name: 'n', type: 'integer' }] },
];

/** Below `/api`. */
export interface RefusalPaths {
  world: string;
  deployment: string;
}

/** A deployment that binds all of them (but `unbound`), with the horses `A` and `B` and two instances named `twin`. */
export async function refusalWorld(api: ApiClient): Promise<RefusalPaths> {
  const events = Object.entries(versions).map(([name, firstVersion]) => ({ name, firstVersion }));
  const { path: world, deploy } = await makeWorld(api, { name: 'Refusals', schemas, events });
  const { path: deployment } = await deploy();
  created(await api.post(`${world}/events`, { name: 'unbound', firstVersion: direct({}) }));
  await plant(api, deployment, 'horse', 'A', { tags: [1] });
  await plant(api, deployment, 'horse', 'B');
  for (const schema of ['horse', 'extra']) await plant(api, deployment, schema, 'twin');
  return { world, deployment };
}
