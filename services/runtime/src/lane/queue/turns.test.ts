import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '@orrery/contracts';
import { createKeyedMutex, createLogger, createSemaphore } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import { AnsweredKeys } from '../../store/state/answered-keys.js';
import { ClaimedMessages } from '../../store/state/claimed-messages.js';
import { type DeploymentState, OpenRuns, ofInstance } from '../../store/state/deployment-state.js';
import { PendingTimers } from '../../store/state/pending-timers.js';
import type { ItemOutcome, WorkItem } from '../items/work-item.js';
import { createLanes } from './lanes.js';
import type { LaneParts } from './queued-items.js';
import { createResidentStates } from './resident-states.js';

const HORSE = ofInstance('horse:H1');
const RUN = { id: 'R', step: 0, claim: null, staged: false, awaitsPayment: false };
const DONE = { kind: 'answer', answer: 'done' } as const;

/** Lanes with deployment 1, whose follow-up F without delay is to be decided next, and whose run R holds a horse. */
function setUp(some: Partial<LaneParts> = {}) {
  const read = async (id: number, epoch: number) =>
    ({
      ...{ id, epoch, partition: id, row: { deleted_at: null } },
      head: { executedAt: new Date(0).toISOString() },
      instances: { bytes: () => 1, drop: () => undefined },
      claimedSchemas: new Map(),
      keys: new AnsweredKeys(),
      messages: new ClaimedMessages(),
      runs: new OpenRuns([{ ...RUN, holds: { instances: ['horse:H1'], schemas: [] } }]),
      timers: new PendingTimers([{ id: 'F', key: null, tree: 1 }]),
    }) as unknown as DeploymentState;
  const time = { at: 0 };
  const states = createResidentStates(read, { epochOf: () => 1 }, { maxBytes: 1000, maxDeployments: 0 });
  const claimMutex = createKeyedMutex();
  const lanes = createLanes({
    ...{ states, claimMutex, commitSlots: createSemaphore(2), journalForm: { version: 2 }, ids: {} as never },
    lostTails: { endLostBy: () => undefined, acknowledge: () => undefined },
    clock: { now: () => 0, monotonic: () => time.at, sleep: () => new Promise(() => {}) },
    claimSchemas: async () => [{ name: 'horse', id: 1, revision: 1 }],
    commit: async () => ({ kind: 'committed' }),
    onCommitted: () => undefined,
    logger: createLogger({ service: 'test', level: 'silent' }),
    ...some,
  } as LaneParts);
  const decided: string[] = [];
  const submit = (
    name: string,
    decide: (state: DeploymentState) => ItemOutcome<unknown> = () => DONE,
    rest: Partial<WorkItem<unknown>> = {},
  ) =>
    lanes.submit({
      ...{ deploymentId: 1, deadline: 1000, signal: new AbortController().signal, prepare: () => undefined },
      ...(name === 'F' && { turn: 'F' }),
      decide: (state) => {
        const outcome = decide(state);
        if (outcome.kind === 'answer') decided.push(name);
        return outcome;
      },
      ...rest,
    });
  return { submit, states, claimMutex, decided, time };
}

it('memory is not trimmed of what is being loaded for an item', async () => {
  const { submit, states } = setUp();
  const trim = vi.spyOn(states, 'trim');
  vi.spyOn(states, 'hasGrown').mockReturnValue(true);
  const loaded = Promise.withResolvers<void>();
  const slow = submit('F', undefined, { deploymentId: 7, prepare: () => loaded.promise });
  await submit('F', undefined, { deploymentId: 8 });
  expect(trim.mock.lastCall?.[0]).toContain(7);
  loaded.resolve();
  await slow;
  await submit('F', undefined, { deploymentId: 9 });
  expect(trim.mock.lastCall?.[0]).not.toContain(7);
});

const claimsHorse = (state: DeploymentState): ItemOutcome<unknown> =>
  state.claimedSchemas.has('horse') ? DONE : { kind: 'needs', needs: { claims: ['horse'] } };

it('a follow-up that claims a schema keeps its place', async () => {
  const { submit, decided } = setUp();
  await Promise.all([submit('other'), submit('F', claimsHorse)]);
  expect(decided).toEqual(['F', 'other']);
});

it('a follow-up gives its place up where it waits for who holds the mutex of claims', async () => {
  const { submit, claimMutex, decided } = setUp();
  let followUp: Promise<unknown> | undefined;
  await claimMutex.run(1, async () => {
    followUp = submit('F', claimsHorse);
    await submit('holder');
  });
  await followUp;
  expect(decided).toEqual(['holder', 'F']);
});

it('a follow-up that waits for a run does not get its place back with a state that is read again', async () => {
  const { submit, states, decided } = setUp();
  const onWait = vi.fn();
  const waits = (state: DeploymentState): ItemOutcome<unknown> =>
    state.runs.isHeld(HORSE) ? { kind: 'wait', for: HORSE, toHold: false } : DONE;
  const followUp = submit('F', waits, { onWait });
  await vi.waitFor(() => expect(onWait).toHaveBeenCalledOnce());
  states.trim(new Set());
  expect(states.peek(1)).toBeUndefined();
  const ended = { id: 'R', open: null, write: { update: {} } } as never;
  await submit('step', () => ({ kind: 'record', run: ended, settlement: { reply: 'ended' } }));
  await followUp;
  expect(decided).toEqual(['F']);
});

it('a follow-up whose needs cannot be fetched gives its place up', async () => {
  const unavailable = new ServiceError('unavailable');
  const { submit, decided } = setUp({ claimSchemas: () => Promise.reject(unavailable) });
  const other = submit('other');
  await expect(submit('F', claimsHorse)).rejects.toThrow(unavailable);
  await other;
  expect(decided).toEqual(['other']);
});

it('an item that stays behind a follow-up is dropped at its deadline', async () => {
  const { submit, time } = setUp();
  const other = submit('other');
  await nextTurn();
  time.at = 1000;
  // The queue is looked at for an item of another deployment.
  await submit('elsewhere', undefined, { deploymentId: 2, deadline: 2000, turn: 'F' });
  await expect(other).rejects.toMatchObject({ code: 'deadline_exceeded' });
});
