import { runtimeContract, ServiceError } from '@orrery/contracts';
import { expect, it, vi } from 'vitest';
import { createDispatch } from './dispatch.js';
import type { GatewayCall, RoutedRpc } from './operation.js';

const execute = runtimeContract.rpcs['deployments.execute'] as unknown as RoutedRpc;
const request = { params: { worldAddress: 'w', address: 'd' }, query: {}, headers: {}, body: {} };
const gatewayCall = { caller: { kind: 'anonymous' }, requestId: 'r', deadline: 9 } as unknown as GatewayCall;
const lost = new ServiceError('unavailable', 'Gone.', { facts: { outcome: 'unknown' } });

function dispatching(ofCall: () => Promise<unknown>, thrown: Error = lost) {
  const call = vi.fn(async ({ name }: { name: string }, _request: unknown, _options: unknown) => {
    if (name === 'executions.ofCall') return ofCall();
    throw thrown;
  });
  const dispatch = createDispatch({ call } as never, {}, { onError: () => undefined, longerMs: 90 });
  return { call, dispatch, answer: () => dispatch(execute, request, gatewayCall) };
}

it('an execution whose process is gone is answered by the run that it became', async () => {
  const { call, answer } = dispatching(async () => ({ data: { seq: 7 } }));
  expect(await answer()).toEqual({ data: { seq: 7 } });
  const [executed, asked] = call.mock.calls;
  const callId = expect.stringMatching(/^[\da-f-]{36}$/);
  expect(executed?.[2]).toMatchObject({ callId });
  const { callId: same } = { callId: undefined, ...(executed?.[2] as object) };
  expect(asked?.[1]).toEqual({ params: request.params, callId: same });
});

it('an execution whose run goes on past the deadline of the call is waited for longer', async () => {
  const late = new ServiceError('deadline_exceeded', undefined, { facts: { executionId: 'e' } });
  const { call, answer } = dispatching(async () => ({ data: { seq: 8 } }), late);
  expect(await answer()).toEqual({ data: { seq: 8 } });
  expect(call.mock.calls.map(([, , options]) => (options as GatewayCall).deadline)).toEqual([9, 99]);
  const failed = new ServiceError('deadline_exceeded', undefined, { facts: { historyId: 'h' } });
  await expect(dispatching(async () => ({ data: null }), failed).answer()).rejects.toBe(failed);
});

it('a dry run may take as long as the call of a model from the start', async () => {
  const { call, dispatch } = dispatching(async () => ({ data: null }), lost);
  await dispatch(execute, { ...request, query: { dryRun: 'true' } }, gatewayCall).catch(() => undefined);
  expect(call.mock.calls[0]?.[2]).toMatchObject({ deadline: 99 });
});

it('it fails with the error of its run', async () => {
  const { answer } = dispatching(() => Promise.reject(new ServiceError('ai_output_invalid')));
  await expect(answer()).rejects.toMatchObject({ code: 'ai_output_invalid' });
});

it.each([
  ['it became no run', async () => ({ data: null })],
  ['no process answers', () => Promise.reject(new ServiceError('deadline_exceeded'))],
])('its outcome stays unknown when %s', async (_why, ofCall) => {
  await expect(dispatching(ofCall).answer()).rejects.toBe(lost);
});

it('no run is looked for after any other error', async () => {
  const refused = new ServiceError('deployment_paused');
  const { call, answer } = dispatching(async () => ({ data: null }), refused);
  await expect(answer()).rejects.toBe(refused);
  expect(call).toHaveBeenCalledTimes(1);
});
