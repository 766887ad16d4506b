import fc from 'fast-check';
import { arbitraryCommand } from './arbitrary-command.js';
import { world } from './arbitrary-world.js';
import type { Command } from './command.js';
import type { WorldPlan } from './plan.js';

/** What one run of the property is given. */
export interface Story {
  world: WorldPlan;
  commands: Command[];
}

export const story = (maxCommands: number): fc.Arbitrary<Story> =>
  fc.record({
    world,
    commands: fc.array(arbitraryCommand, { minLength: 1, maxLength: maxCommands, size: 'max' }),
  });
