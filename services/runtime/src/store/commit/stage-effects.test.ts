import type { JournalVersion } from '@orrery/contracts';
import type { CheckedChange, JournalEntryDraft } from '@orrery/deciding';
import { expect, it } from 'vitest';
import { AnsweredKeys } from '../state/answered-keys.js';
import type { ClaimedSchema, DeploymentState } from '../state/deployment-state.js';
import { keyIdOf, OpenRuns } from '../state/deployment-state.js';
import { createInstanceMemory } from '../state/instance-memory.js';
import { isFull, newBatch } from './batch.js';
import { stageEffects, stageRun, stepAfter } from './stage-effects.js';

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
function staging(version: JournalVersion = 2) {
  const claimedSchemas = new Map<string, ClaimedSchema>([
    ['horse', { schemaId: 5, revision: 7, committed: false }],
  ]);
  const state = {
    id: 1,
    partition: 1,
    epoch: 1,
    head: { seq: 0, hash: '', executedAt: '1970-01-01T00:00:00.000Z', totals: {} },
    instances: createInstanceMemory(),
    claimedSchemas,
    keys: new AnsweredKeys(),
    runs: new OpenRuns(),
    indexes: [],
  } as unknown as DeploymentState;
  const batch = newBatch(version);
  let id = 0;
  const ids = { next: () => ++id } as never;
  const stageAt = (decidedAt: string, time: Date | string = at, ...changes: CheckedChange[]) => {
    const entry = {
      decidedAt,
      kind: 'execution',
      trigger: 'admin',
      status: 'succeeded',
      changes,
      input: {},
    };
    const rest = { result: null, error: null, attestation: null };
    const effects = { entry: { ...entry, ...rest } as unknown as JournalEntryDraft };
    stageEffects(batch, state, { effects, answer: () => ({ reply: null }) } as never, ids, new Date(time));
  };
  const stage = (...changes: CheckedChange[]) => stageAt(at.toISOString(), at, ...changes);
  return { batch, state, stage, stageAt };
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
  expect(batch.claims).toEqual([
    { deployment_id: 1, entity_schema: 'horse', schema_id: 5, claim_revision: 7 },
  ]);
});

it('no entry is earlier than the one before it, also one that was staged before it', () => {
  const times = (version: JournalVersion) => {
    const { batch, stageAt } = staging(version);
    for (const second of [5, 2, 7])
      stageAt(`2030-01-01T00:00:0${second}.000Z`, second === 5 ? '2030-01-01T00:00:08.000Z' : at);
    return batch.entries.map(({ entry }) => [entry.executedAt.slice(17, 19), entry.decidedAt?.slice(17, 19)]);
  };
  // Version 1 has the time of the decision, version 2 that of the commit beside it.
  expect(times(1)).toEqual([['05'], ['05'], ['07']].map((one) => [...one, undefined]));
  expect(times(2)).toEqual([
    ['08', '05'],
    ['08', '02'],
    ['08', '07'],
  ]);
});

it('the counters follow entries and instances, up and down', () => {
  const { state, stage } = staging();
  stage(change('create', 1), change('create', 1, 'b'));
  stage(change('delete', 2));
  expect(state.head.totals).toEqual({ entries: 2, admin_succeeded: 2, instances: 1 });
});

it('a run in a batch is one row, from the step that it had before', () => {
  const { batch, state } = staging();
  const run = { claim: null, holds: null, staged: false, awaitsPayment: false };
  state.runs.set({ ...run, id: 'r', step: 5 });
  const write = (columns: object, open: object | null) =>
    stageRun(batch, state, { id: 'r', open: open && { ...run, id: 'r' }, write: { update: columns } });
  write({ holding: true, attempts: 2 }, {});
  const step = stepAfter(5, 1);
  expect(state.runs.get('r')).toMatchObject({ step });
  write({ attempts: 3 }, null);
  expect([...batch.runs]).toEqual([
    ['r', { deploymentId: 1, from: 5, step: stepAfter(step, 1), columns: { holding: true, attempts: 3 } }],
  ]);
  expect(state.runs.has('r')).toBe(false);
});

it('two owners of one run number their steps differently', () => {
  const steps = [4, 5, 6, 7].map((epoch) => stepAfter(20, epoch));
  expect(new Set(steps).size).toBe(4);
  expect(Math.min(...steps)).toBeGreaterThan(20);
});

it('every row counts towards the bounds of a batch, and what it holds', () => {
  const { batch, stage, state } = staging();
  stage(change('create', 1));
  // An entry, a change, a claim.
  expect(batch.rows).toBe(3);
  const { bytes } = batch;
  stageRun(batch, state, {
    id: 'r',
    open: null,
    write: { insert: { request: { text: 'x'.repeat(5000) } } as never },
  });
  expect(batch.rows).toBe(4);
  expect(batch.bytes).toBeGreaterThan(bytes + 10_000);
  expect(isFull(batch)).toBe(false);
  expect(isFull({ ...batch, rows: 1000 })).toBe(true);
  expect(isFull({ ...batch, bytes: 4 * 1024 * 1024 })).toBe(true);
});

it('answers of keys are counted in memory, and the latest of them are kept', () => {
  const { state } = staging();
  const result = { text: 'x'.repeat(10_240) };
  const entry = {
    ...{ decidedAt: at.toISOString(), kind: 'execution', trigger: 'admin', status: 'succeeded', changes: [] },
    ...{ input: {}, result, error: null, attestation: null },
  } as unknown as JournalEntryDraft;
  for (let count = 0; count < 1000; count += 1) {
    const key = { accountId: 1, operation: 'execute', key: `k${count}`, requestHash: 'hash' };
    const staged = { effects: { entry, key }, answer: () => ({ reply: result }) } as never;
    stageEffects(newBatch(), state, staged, {} as never, at);
  }
  expect(state.keys.bytes()).toBeGreaterThan(10_240);
  expect(state.keys.bytes()).toBeLessThan(300_000);
  const kept = (key: string) => state.keys.get(keyIdOf({ accountId: 1, operation: 'execute', key }), 0);
  expect([kept('k999')?.reply, kept('k0')]).toEqual([{ reply: result }, undefined]);
});
