import { expect, it } from 'vitest';
import type { CheckedChange } from '../journal/change.js';
import type { JournalEntryDraft } from '../journal/entry.js';
import { newBatch } from './batch.js';
import type { ClaimedSchema, DeploymentState } from './deployment-state.js';
import { createInstanceMemory } from './instance-memory.js';
import { stageEffects } from './stage-effects.js';

const at = new Date(0);
const change = (op: CheckedChange['op'], revision: number, instanceId = 'a') =>
  ({
    entitySchema: 'horse',
    instanceId,
    op,
    set: {},
    unset: [],
    revision,
    state: op === 'delete' ? null : {},
  }) satisfies CheckedChange;

/** A deployment in memory, and how to stage an execution with these changes. */
function staging() {
  const claimedSchemas = new Map<string, ClaimedSchema>([['horse', { schemaId: 5, committed: false }]]);
  const state = {
    id: 1,
    partition: 1,
    epoch: 1,
    head: { seq: 0, hash: '', totals: {} },
    instances: createInstanceMemory(),
    claimedSchemas,
  } as unknown as DeploymentState;
  const batch = newBatch();
  let id = 0;
  const ids = { next: () => ++id } as never;
  const stage = (...changes: CheckedChange[]) => {
    const entry = { kind: 'execution', trigger: 'admin', status: 'succeeded', changes, input: {} };
    const rest = { result: null, error: null, attestation: null };
    const effects = { entry: { ...entry, ...rest } as unknown as JournalEntryDraft };
    stageEffects(batch, state, { effects, answer: () => ({ reply: null }) } as never, ids, at);
  };
  return { batch, state, stage };
}

it('an instance that is deleted and created again within a batch gets a new row', () => {
  const { batch, state, stage } = staging();
  state.instances.learn('horse', 'a', { id: 9, state: {}, revision: 1, createdAt: at, updatedAt: at });
  stage(change('delete', 2));
  stage(change('create', 1), change('create', 1, 'b'));
  const touched = [...batch.touched.values()];
  expect(touched.map(({ existedBefore, recreated }) => [existedBefore, recreated])).toEqual([
    [true, true],
    [false, false],
  ]);
});

it('only the first instance of a schema commits the claim on it', () => {
  const { batch, stage } = staging();
  stage(change('create', 1), change('create', 1, 'b'));
  stage(change('create', 1, 'c'));
  expect(batch.claims).toEqual([{ deploymentId: 1, entitySchema: 'horse', schemaId: 5 }]);
});

it('the counters follow entries and instances, up and down', () => {
  const { state, stage } = staging();
  stage(change('create', 1), change('create', 1, 'b'));
  stage(change('delete', 2));
  expect(state.head.totals).toEqual({ entries: 2, admin_succeeded: 2, instances: 1 });
});
