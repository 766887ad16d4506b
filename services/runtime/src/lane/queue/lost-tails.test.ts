import { type Logger, startTelemetry } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import { createLostTails } from './resident-states.js';

const stateAt = (seq: number, hash = `h${seq}`, id = 1) =>
  ({ id, row: { address: '0x1' }, head: { seq, hash, totals: {} } }) as unknown as DeploymentState;

function setUp(maxDeployments = 10) {
  const error = vi.fn();
  const onLost = vi.fn();
  const tails = createLostTails({ maxDeployments, onLost, logger: { error } as unknown as Logger });
  const committed = (state: DeploymentState) =>
    tails.acknowledge({
      headsBefore: new Map([[state.id, state.head]]),
      deployments: new Map([[state.id, state]]),
    });
  return { tails, committed, error, onLost };
}

it.each([
  ['the same end', stateAt(5), undefined],
  ['a later end, of another owner', stateAt(7), undefined],
  ['an earlier end', stateAt(4), { seq: 5, hash: 'h5' }],
  ['another entry at the end', stateAt(5, 'other'), { seq: 5, hash: 'h5' }],
])('a journal that is read again with %s', (_what, state, lost) => {
  const { tails, committed } = setUp();
  committed(stateAt(5));
  expect(tails.endLostBy(state)).toEqual(lost);
});

it('what was only read is remembered too', () => {
  const { tails } = setUp();
  expect(tails.endLostBy(stateAt(5))).toBeUndefined();
  expect(tails.endLostBy(stateAt(3))).toEqual({ seq: 5, hash: 'h5' });
});

it('a loss is found again until the entry that says so is committed, and reported once', async () => {
  await using telemetry = await startTelemetry({ service: 'runtime', tracing: false, metrics: true });
  const { tails, committed, error, onLost } = setUp();
  // An alert on an increase needs the zero before it.
  expect(await telemetry.metricsPage()).toMatch(/^orrery_runtime_tails_lost_total\{.*\} 0$/m);
  committed(stateAt(5));
  const [first, second] = [stateAt(3), stateAt(3)];
  expect(tails.endLostBy(first)).toBeDefined();
  // The state has changed since: it holds what is not committed.
  expect(tails.endLostBy(first)).toBeUndefined();
  expect(tails.endLostBy(second)).toBeDefined();
  expect(error).toHaveBeenCalledOnce();
  expect(error.mock.calls[0]?.[0]).toMatchObject({ deployment: '0x1', lost: { seq: 5 }, found: { seq: 3 } });
  expect(onLost).toHaveBeenCalledOnce();
  expect(await telemetry.metricsPage()).toMatch(/^orrery_runtime_tails_lost_total\{.*\} 1$/m);
  committed(stateAt(4, 'said'));
  expect(tails.endLostBy(stateAt(4, 'said'))).toBeUndefined();
});

it('only so many ends are remembered', () => {
  const { tails, committed } = setUp(2);
  for (const id of [1, 2, 3]) committed(stateAt(5, 'h5', id));
  const isFound = (id: number) => tails.endLostBy(stateAt(4, 'h4', id)) !== undefined;
  expect([3, 2, 1].map(isFound)).toEqual([true, true, false]);
});
