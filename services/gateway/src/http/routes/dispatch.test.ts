import { catalogContract, JsonText, runtimeContract, ServiceError } from '@orrery/contracts';
import { expect, it, vi } from 'vitest';
import type { GatewayCall, RoutedRpc } from '../../core/requests/operation.js';
import { createDispatch, envelopeOf, mayPass } from './dispatch.js';

const execute = runtimeContract.rpcs['deployments.execute'] as unknown as RoutedRpc;
const request = { params: { worldAddress: 'w', address: 'd' }, query: {}, headers: {}, body: {} };
const gatewayCall = { caller: { kind: 'anonymous' }, requestId: 'r', deadline: 9 } as unknown as GatewayCall;
const lost = new ServiceError('unavailable', 'Gone.', { facts: { outcome: 'unknown' } });

const unreached = new ServiceError('unavailable', 'Away.', { facts: { reached: false } });

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

function leaving(ofCall: () => Promise<unknown>) {
  const running = { data: { executionId: 'e', state: 'running' } };
  const call = vi.fn(async ({ name }: { name: string }, _request: unknown, _options: unknown) =>
    name === 'executions.ofCall' ? ofCall() : running,
  );
  const dispatch = createDispatch({ call } as never, {}, { onError: () => undefined, longerMs: 90 });
  const onRun = vi.fn();
  const ask = (headers: object = {}) => dispatch(execute, { ...request, headers }, { ...gatewayCall, onRun });
  return { call, onRun, ask, running };
}

it('an execution that became a run is asked for by itself, and only waits meanwhile', async () => {
  const { call, onRun, ask } = leaving(async () => ({ data: { seq: 9 } }));
  expect(await ask()).toEqual({ data: { seq: 9 } });
  expect(onRun).toHaveBeenCalledTimes(1);
  const [executed, asked] = call.mock.calls.map(([, , options]) => options as GatewayCall);
  expect([executed?.leavesRun, executed?.deadline, asked?.leavesRun, asked?.deadline]).toEqual([
    true,
    9,
    undefined,
    99,
  ]);
});

it('an asynchronous execution, and the answer to an earlier one, are answered as they are', async () => {
  const { call, onRun, ask, running } = leaving(async () => ({ data: null }));
  expect(await ask({ prefer: 'wait=3, respond-async' })).toEqual(running);
  expect([call.mock.calls.length, onRun.mock.calls.length]).toEqual([1, 0]);
  expect(await ask()).toEqual(running);
});

it('a run is asked for again at the next owner when one is lost', async () => {
  let owners = 0;
  const ofCall = async () => {
    owners += 1;
    if (owners < 3) throw lost;
    return { data: { seq: 10 } };
  };
  expect(await leaving(ofCall).ask()).toEqual({ data: { seq: 10 } });
});

it.each([
  [lost, { code: 'unavailable', facts: { executionId: 'e', outcome: 'unknown' } }],
  [unreached, { code: 'unavailable', facts: { executionId: 'e', outcome: 'unknown' } }],
  [new ServiceError('overloaded'), { code: 'unavailable', facts: { executionId: 'e', outcome: 'unknown' } }],
  [new ServiceError('deadline_exceeded'), { code: 'deadline_exceeded', facts: { executionId: 'e' } }],
])('a run of which no process tells goes on, and its id is in the error: %s', async (error, expected) => {
  const { call, ask } = leaving(() => Promise.reject(error));
  await expect(ask()).rejects.toMatchObject(expected);
  expect(call.mock.calls.length).toBeLessThan(10);
});

it('a dry run may take as long as the call of a model from the start', async () => {
  const { call, dispatch } = dispatching(async () => ({ data: null }), lost);
  await dispatch(execute, { ...request, query: { dryRun: 'true' } }, gatewayCall).catch(() => undefined);
  expect(call.mock.calls[0]?.[2]).toMatchObject({ deadline: 99 });
});

it('so may a replay in a what-if fork', async () => {
  const { call, dispatch } = dispatching(async () => ({ data: null }), lost);
  const replay = runtimeContract.rpcs['deployments.replay'] as unknown as RoutedRpc;
  await dispatch(replay, { ...request, body: { seq: 2 } }, gatewayCall).catch(() => undefined);
  expect(call.mock.calls[0]?.[2]).toMatchObject({ deadline: 99 });
});

it('an execution that says it is no dry run leaves its run', async () => {
  const { call, dispatch } = dispatching(async () => ({ data: null }), lost);
  await dispatch(execute, { ...request, query: { dryRun: 'false' } }, gatewayCall).catch(() => undefined);
  expect(call.mock.calls[0]?.[2]).toMatchObject({ deadline: 9, leavesRun: true });
});

it('it fails with the error of its run', async () => {
  const { answer } = dispatching(() => Promise.reject(new ServiceError('ai_output_invalid')));
  await expect(answer()).rejects.toMatchObject({ code: 'ai_output_invalid' });
  const away = new ServiceError('unavailable', 'The model is away.', { facts: { historyId: 'h' } });
  await expect(dispatching(() => Promise.reject(away)).answer()).rejects.toBe(away);
});

it.each([
  ['it became no run', async () => ({ data: null })],
  ['no process answers', () => Promise.reject(new ServiceError('deadline_exceeded'))],
  ['no process is reached', () => Promise.reject(unreached)],
  ['the run cannot be read', () => Promise.reject(new ServiceError('unavailable', 'The database is away.'))],
  ['the disk is full', () => Promise.reject(new ServiceError('storage_full'))],
])('its outcome stays unknown when %s', async (_why, ofCall) => {
  await expect(dispatching(ofCall).answer()).rejects.toBe(lost);
});

it('no run is looked for after any other error', async () => {
  const refused = new ServiceError('deployment_paused');
  const { call, answer } = dispatching(async () => ({ data: null }), refused);
  await expect(answer()).rejects.toBe(refused);
  expect(call).toHaveBeenCalledTimes(1);
});

it.each([
  [
    'a committed one',
    '{"data":{"kind":"committed","seq":3}}',
    { data: undefined, text: '{"data":{"kind":"committed","seq":3}}' },
  ],
  [
    'one for later',
    '{"data":{"kind":"accepted","executionId":"e"}}',
    { data: { kind: 'accepted', executionId: 'e' } },
  ],
])(
  'whoever passes an execution on gets its text, if nothing of it has to be read: %s',
  async (_which, text, expected) => {
    const callForText = vi.fn(async () => new JsonText(text));
    const dispatch = createDispatch({ callForText } as never, {}, { onError: () => undefined, longerMs: 90 });
    const asking = { ...request, headers: { prefer: 'respond-async' } };
    expect(await dispatch(execute, asking, { ...gatewayCall, passesOn: true })).toEqual(expected);
  },
);

const routed = (rpc: unknown) => rpc as RoutedRpc;

it('passes on what has neither a Location nor another status', () => {
  expect(mayPass(routed(catalogContract.rpcs['worlds.list']), '{"data":[]}')).toBe(true);
  expect(mayPass(routed(catalogContract.rpcs['worlds.create']), '{"data":{"id":1}}')).toBe(false);
  expect(mayPass(execute, '{"data":{"kind":"committed","seq":1}}')).toBe(true);
  expect(mayPass(execute, '{"data":{"kind":"accepted","executionId":"e"}}')).toBe(false);
});

it.each([
  ['plain', { data: { a: 1 } }, undefined],
  ['a text at the end', { data: [], message: 'made' }, undefined],
  ['a tag', { data: { a: 'x' }, etag: '7' }, '7'],
  ['a quoted tag', { data: {}, etag: '"7"' }, '"7"'],
  ['a tag within the data', { data: { b: 1, etag: '8' } }, undefined],
  ['a text that looks like a tag', { data: {}, message: 'a,"etag":"9' }, undefined],
  ['such a text before the tag', { data: 'a,"etag":"9"}', etag: '7' }, '7'],
])('wraps a reply with %s as if it had been parsed', (_what, reply, tag) => {
  const { etag: _, ...members } = reply as { data: unknown; etag?: string };
  const { body, etag } = envelopeOf(JSON.stringify(reply));
  expect([JSON.parse(body), etag]).toEqual([{ success: true, ...members }, tag]);
});
