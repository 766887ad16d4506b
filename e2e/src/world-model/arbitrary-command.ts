import type { JsonObject } from '@orrery/contracts';
import fc from 'fast-check';
import { EVENTS, IDS, SCHEMAS, state, value, version, world } from './arbitrary-world.js';
import type { Command, Step } from './command.js';
import { FITTING, type WorldPlan } from './plan.js';

const event = fc.constantFrom(...EVENTS);
const id = fc.constantFrom(...IDS);
const schema = fc.constantFrom(...SCHEMAS);
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

const bindings = fc.array(fc.record({ event, eventVersion: fc.constantFrom(1, 1, 2, 3) }), {
  minLength: 1,
  maxLength: 2,
});
const maybeSchema = fc.option(schema);

const steps: { weight: number; arbitrary: fc.Arbitrary<Step> }[] = [
  {
    weight: 60,
    arbitrary: fc.record({
      kind: fc.constant('execute' as const),
      event,
      input,
      dryRun: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
      key: fc.constantFrom(null, null, null, null, null, null, 'k1', 'k2'),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('create' as const), schema, id, state }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('replace' as const),
      schema: maybeSchema,
      id,
      state,
      match: fc.constantFrom('none' as const, 'right' as const, 'wrong' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), schema: maybeSchema, id }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('look' as const), schema, id, back: fc.nat(8) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('bind' as const), bindings }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('rebind' as const), bindings }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unbind' as const), event }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('turn' as const),
      action: fc.constantFrom('pause', 'resume', 'resume', 'resume', 'publish', 'unpublish', 'lock'),
    }) as fc.Arbitrary<Step>,
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('rename' as const), name: fc.constantFrom('N', 'M') }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('clone' as const),
      back: fc.option(fc.nat(9)),
      mode: fc.constantFrom('upgradable', 'upgradable', 'upgradable', 'locked'),
      explicit: fc.boolean(),
    }) as fc.Arbitrary<Step>,
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'end' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('redefine' as const),
      event,
      version: fc.constantFrom(1, 2),
      plan: version,
    }),
  },
];

export const arbitraryCommand: fc.Arbitrary<Command> = fc
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
