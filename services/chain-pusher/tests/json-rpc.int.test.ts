import { expect, it, onTestFinished, vi } from 'vitest';
import { call, JsonRpc, RpcFailure } from '../src/chains/rpc/json-rpc.js';
import { ServersAway } from '../src/core/chains/chain-port.js';
import { type Fault, startFaultProxy } from './fault-proxy.js';

const { signal } = new AbortController();
const asked = [call('eth_getLogs')];
const BUSY: Fault = { error: 'limit exceeded', code: -32_005 };

/** A server that answers everything alike, and what it was asked. */
async function serverWith(fault: () => Fault) {
  const seen: string[] = [];
  const url = await startFaultProxy('http://127.0.0.1:9', ({ method }) => {
    seen.push(method);
    return fault();
  });
  return { url, seen };
}

it('the server that answered last is asked first, until it does not answer', async () => {
  let isBack = false;
  const first = await serverWith(() => (isBack ? { result: '0x1' } : 'refuse'));
  const second = await serverWith(() => (isBack ? 'refuse' : { result: '0x2' }));
  const rpc = new JsonRpc([first.url, second.url]);
  for (let count = 0; count < 3; count += 1) expect(await rpc.ask(signal, 'eth_call')).toBe('0x2');
  expect(first.seen).toHaveLength(1);
  isBack = true;
  expect(await rpc.ask(signal, 'eth_call')).toBe('0x1');
});

it('the first server of the list is asked again after a while, whatever another answers', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let isAway = true;
  const first = await serverWith(() => (isAway ? 'refuse' : { result: '0x1' }));
  const stalled = await serverWith(() => ({ result: '0x2' }));
  const rpc = new JsonRpc([first.url, stalled.url]);
  expect(await rpc.ask(signal, 'eth_call')).toBe('0x2');
  isAway = false;
  expect(await rpc.ask(signal, 'eth_call')).toBe('0x2');
  vi.advanceTimersByTime(30_000);
  expect(await rpc.ask(signal, 'eth_call')).toBe('0x1');
});

it('a server that has too much to do or has lost its backend is passed over', async () => {
  const busy = await serverWith(() => BUSY);
  const broken = await serverWith(() => ({ error: 'internal error', code: -32_603 }));
  const good = await serverWith(() => ({ result: '0x1' }));
  const rpc = new JsonRpc([busy.url, broken.url, good.url]);
  expect(await rpc.answers(asked, signal)).toEqual(['0x1']);
});

it('where all servers answer so, it is a failure of what was asked only for who takes it as one', async () => {
  const [one, other] = [await serverWith(() => BUSY), await serverWith(() => BUSY)];
  const rpc = new JsonRpc([one.url, other.url]);
  expect(await rpc.answersOfAny(asked, signal)).toEqual([expect.any(RpcFailure)]);
  await expect(rpc.answers(asked, signal)).rejects.toThrow(ServersAway);
});

it('where another server is away, it may be the one that would answer', async () => {
  const [away, busy] = [await serverWith(() => 'refuse'), await serverWith(() => BUSY)];
  const rpc = new JsonRpc([away.url, busy.url]);
  const failure = await rpc.answersOfAny(asked, signal).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ServersAway);
  expect((failure as Error).cause).toBeInstanceOf(RpcFailure);
});
