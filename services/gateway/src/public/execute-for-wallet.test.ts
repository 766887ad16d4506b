import { ServiceError } from '@orrery/contracts';
import { expect, it, vi } from 'vitest';
import type { GatewayCall } from '../core/requests/operation.js';
import { createExecuteForWallet } from './signed-route.js';

const call = {
  caller: { kind: 'wallet', wallet: 'w' },
  requestId: 'r',
  deadline: 9,
} as unknown as GatewayCall;
const answer = { data: { seq: 7 }, payment: null };

function executing(first: () => Promise<unknown>) {
  const bus = { call: vi.fn() };
  bus.call.mockImplementationOnce(first).mockImplementation(async () => answer);
  const [onRun, onError] = [vi.fn(), vi.fn()];
  const execute = createExecuteForWallet(bus as never, { onError, longerMs: 90 });
  const made = () => bus.call.mock.calls.map(([, request, options]) => ({ ...request, ...options }));
  return { execute: () => execute({ awaitsRun: false } as never, { ...call, onRun }), made, onRun };
}

it('answers at once what needed no run', async () => {
  const { execute, made, onRun } = executing(async () => answer);
  expect(await execute()).toEqual(answer);
  expect(made()).toMatchObject([{ leavesRun: true, awaitsRun: false, deadline: 9 }]);
  expect(onRun).not.toHaveBeenCalled();
});

it('waits for a run by itself', async () => {
  const running = { data: { executionId: 'e', state: 'running' }, payment: null };
  const { execute, made, onRun } = executing(async () => running);
  expect(await execute()).toEqual(answer);
  expect(onRun).toHaveBeenCalledTimes(1);
  expect(made()[1]).toMatchObject({ awaitsRun: true, deadline: 99 });
  expect(made()[1]).not.toHaveProperty('leavesRun');
});

it('answers at once that a payment is unclear', async () => {
  const awaited = { data: { executionId: 'e', state: 'awaiting_payment' }, payment: null };
  const { execute, made, onRun } = executing(async () => awaited);
  expect(await execute()).toEqual(awaited);
  expect([made().length, onRun.mock.calls.length]).toEqual([1, 0]);
});

it('repeats a call whose process is lost, and no other that fails', async () => {
  const lost = new ServiceError('unavailable', 'Gone.', { facts: { outcome: 'unknown' } });
  expect(await executing(() => Promise.reject(lost)).execute()).toEqual(answer);
  const twice = vi.fn().mockRejectedValueOnce(lost).mockResolvedValue(answer);
  const bus = { call: vi.fn().mockRejectedValueOnce(lost).mockImplementation(twice) };
  const execute = createExecuteForWallet(bus as never, { onError: () => undefined, longerMs: 90 });
  expect(await execute({ awaitsRun: false } as never, call)).toEqual(answer);
  const refused = executing(() => Promise.reject(new ServiceError('deployment_paused')));
  await expect(refused.execute()).rejects.toMatchObject({ code: 'deployment_paused' });
  expect(refused.made()).toHaveLength(1);
});

it.each([
  new ServiceError('unavailable', 'Away.', { facts: { reached: false } }),
  new ServiceError('unavailable', 'The database is away.'),
])('tells that the outcome is unknown where no process tells it: %s', async (silent) => {
  const lost = new ServiceError('unavailable', 'Gone.', { facts: { outcome: 'unknown' } });
  const begun = { data: { executionId: 'e', state: 'running' }, payment: null };
  const executed = (first: () => Promise<unknown>) => {
    const bus = { call: vi.fn().mockImplementationOnce(first).mockRejectedValue(silent) };
    const options = { onError: () => undefined, longerMs: 90 };
    return createExecuteForWallet(bus as never, options)({ awaitsRun: false } as never, call);
  };
  await expect(executed(() => Promise.reject(lost))).rejects.toBe(lost);
  await expect(executed(async () => begun)).rejects.toMatchObject({
    code: 'unavailable',
    facts: { executionId: 'e', outcome: 'unknown' },
  });
});
