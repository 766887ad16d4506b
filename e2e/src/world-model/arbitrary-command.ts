import type { JsonObject } from '@orrery/contracts';
import fc from 'fast-check';
import { EVENTS, IDS, SCHEMAS, state, value, version, world } from './arbitrary-world.js';
import { FITTING, type WorldPlan } from './plan.js';

const event: fc.Arbitrary<string> = fc.constantFrom(...EVENTS);
const id: fc.Arbitrary<string> = fc.constantFrom(...IDS);
const schema: fc.Arbitrary<string> = fc.constantFrom(...SCHEMAS);
const input: fc.Arbitrary<JsonObject> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        id,
        other: id,
        n: fc.constantFrom(1, -1, 2, 0.5, Number.MAX_SAFE_INTEGER),
        s: fc.constantFrom('a', 'b', 'zz'),
        ids: fc.array(id, { maxLength: 3 }),
      },
      { requiredKeys: ['id', 'other', 'n'] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ id, n: value, more: value }, { requiredKeys: ['id'] }) },
  { weight: 1, arbitrary: fc.record({ other: id, s: value }, { requiredKeys: [] }) },
) as fc.Arbitrary<JsonObject>;

const bindings = fc.array(fc.record({ event, eventVersion: fc.constantFrom<number>(1, 1, 2, 3) }), {
  minLength: 1,
  maxLength: 2,
});
const maybeSchema = fc.option(schema);

/** Kinds of steps: how often each is drawn, and of what. */
const STEPS = {
  execute: [
    60,
    {
      event,
      input,
      dryRun: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
      key: fc.constantFrom(null, null, null, null, null, null, 'k1', 'k2'),
    },
  ],
  create: [6, { schema, id, state }],
  replace: [5, { schema: maybeSchema, id, state, match: fc.constantFrom('none', 'right', 'wrong') }],
  remove: [3, { schema: maybeSchema, id }],
  look: [3, { schema, id, back: fc.nat(8) }],
  bind: [2, { bindings }],
  rebind: [3, { bindings }],
  unbind: [1, { event }],
  turn: [
    4,
    { action: fc.constantFrom('pause', 'resume', 'resume', 'resume', 'publish', 'unpublish', 'lock') },
  ],
  rename: [1, { name: fc.constantFrom('N', 'M') }],
  clone: [
    3,
    {
      back: fc.option(fc.nat(9)),
      mode: fc.constantFrom('upgradable', 'upgradable', 'upgradable', 'locked'),
      explicit: fc.boolean(),
    },
  ],
  end: [1, {}],
  redefine: [2, { event, version: fc.constantFrom(1, 2), plan: version }],
} as const;

export type Kind = keyof typeof STEPS;
type Drawn<Parts> = {
  -readonly [Name in keyof Parts]: Parts[Name] extends fc.Arbitrary<infer Value> ? Value : never;
};
/** A step of one of these kinds. */
export type Of<One extends Kind> = One extends Kind ? { kind: One } & Drawn<(typeof STEPS)[One][1]> : never;
/** One step of a story. `at` picks a deployment among those made until then. */
export type Command = { at: number } & Of<Kind>;

const steps = Object.entries(STEPS).map(([kind, [weight, parts]]) => ({
  weight,
  arbitrary: fc.record({ kind: fc.constant(kind), ...parts }) as unknown as fc.Arbitrary<Of<Kind>>,
}));

const arbitraryCommand: fc.Arbitrary<Command> = fc
  .tuple(fc.nat(3), fc.oneof(...steps))
  .map(([at, step]) => ({ at, ...step }));

/** What one run of the property is given. */
export interface Story {
  world: WorldPlan;
  commands: Command[];
}

export const story = (maxCommands: number): fc.Arbitrary<Story> =>
  fc
    .record({
      world,
      commands: fc.array(arbitraryCommand, { minLength: 1, maxLength: maxCommands, size: 'max' }),
    })
    .map(({ world: plan, commands }) => ({ world: plan, commands: [...firstInstances(plan), ...commands] }));

/** So that there is something to execute on. */
const firstInstances = ({ schemas }: WorldPlan): Command[] =>
  schemas.flatMap(({ name, attributes }) => {
    const state = Object.fromEntries(
      attributes.map((attribute) => [attribute.name, FITTING[attribute.name] ?? null]),
    );
    return ['A', 'B'].map((id): Command => ({ at: 0, kind: 'create', schema: name, id, state }));
  });
