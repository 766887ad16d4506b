import { describe, expect, it } from 'vitest';
import type { EventDefinition } from './definitions.js';
import { orphanedNames } from './orphaned-names.js';
import { planChanges } from './plan-changes.js';

const world = { name: 'Station' };
const integers = (...names: string[]) => names.map((name) => ({ name, type: 'integer' as const }));
const before = { name: 'module', attributes: integers('oxygen', 'power') };
const after = { name: 'module', attributes: integers('air', 'power') };
const events: EventDefinition[] = [
  { name: 'dock', mutationSettings: { template: { 'module:HAB': { oxygen: 4 } } } },
  { name: 'read', mutationSettings: { template: { result: '{{ entities.module.HAB["oxygen"] }}' } } },
  { name: 'shift', stateChanges: { module: 'partial' }, guards: { maxDelta: { oxygen: 1 } } },
  { name: 'input', mutationSettings: { template: { result: '{{ input.oxygen }} oxygen' } } },
  {
    name: 'power',
    mutationSettings: { template: { 'module:HAB': { power: '{{ entities.module.HAB.oxygens }}' } } },
  },
  { name: 'other', stateChanges: { crew: 'partial' }, guards: { deny: ['oxygen'] } },
];
const sentences = (isLocked: boolean) => {
  const stored = {
    world,
    schemas: [before],
    events,
    address: '0x1',
    latest: new Map(events.map(({ name }) => [name, { version: 1, isLocked: isLocked && name === 'dock' }])),
    tags: new Map(),
  };
  const plan = planChanges({ world, schemas: [after], events }, stored, { prune: false, newVersions: false });
  return orphanedNames(plan, events);
};

describe('an attribute that a schema loses', () => {
  it('is told with the unchanged events that name it in templates, guards and expressions', () => {
    expect(sentences(false)).toEqual([
      'The schema "module" loses the attribute "oxygen", which the events "dock", "read", "shift" name.',
    ]);
  });

  it('stays for locked versions, which keep their copies', () => {
    expect(sentences(true)).toEqual([
      'The schema "module" loses the attribute "oxygen", which the events "read", "shift" name.',
    ]);
  });
});
