import fc from 'fast-check';
import { arbitraryCommand } from './arbitrary-command.js';
import { FITTING } from './arbitrary-values.js';
import { world } from './arbitrary-world.js';
import type { Command } from './command.js';
import type { WorldPlan } from './plan.js';

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
