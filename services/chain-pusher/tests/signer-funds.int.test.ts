import { openChain } from '@orrery/chain-pusher/operator';
import { expect, it, vi } from 'vitest';
import { startEvm } from './evm-house.js';
import { startFaultProxy } from './fault-proxy.js';
import { prepareHouse } from './running-pusher.js';
import { chainDouble, prepareSending } from './sending-house.js';
import { startSolana } from './solana-house.js';

const { signal } = new AbortController();
const plan = { targetChains: ['local'], onchain: null };
const patiently = { interval: 20 };

it('a signer on Solana that would have to fall below what an account keeps cannot pay', async () => {
  const { chain, node, signer } = await startSolana({ funded: 893_000 });
  const port = await openChain(chain);
  expect((await port.check(signal)).reason).toBe(`the balance of ${signer} is too low`);
  node.fund(signer, 3000);
  expect((await port.check(signal)).reason).toBeNull();
});

it('a transaction on Solana that the signer cannot pay for is not signed, and fails nothing', async () => {
  const { node, signer, through, url, memos } = await startSolana({ funded: 893_000 });
  const enough = { result: 0 };
  // As the server tells it, the signer has enough.
  const proxy = await startFaultProxy(url, ({ method }) =>
    method === 'getMinimumBalanceForRentExemption' ? enough : 'pass',
  );
  const { runtime, boot, pushes, call } = await prepareHouse();
  const deployment = runtime.createDeployment();
  runtime.execute(deployment, { plan });
  await boot(through(proxy));
  await vi.waitFor(async () => {
    const [push] = (await pushes(deployment)).data;
    expect(push).toMatchObject({ status: 'queued', error: { code: 'chain_unavailable' } });
    expect((await call('chains.list', {})).data[0]?.status).toBe('unavailable');
  }, patiently);
  node.fund(signer, 1_000_000);
  await vi.waitFor(
    async () => expect((await pushes(deployment)).data[0]?.status).toBe('finalized'),
    patiently,
  );
  expect(memos()).toHaveLength(1);
});

it.each([
  ['InsufficientFunds, Account balance: 1, cumulative cost: 2', 'unaffordable'],
  ['insufficient funds for gas * price + value', 'unaffordable'],
  ['OldNonce, Current nonce: 3, nonce of rejected tx: 2', 'spent'],
])('an EVM node that says %j means %s', async (error, kind) => {
  const evm = await startEvm();
  const proxy = await startFaultProxy(evm.url, () => ({ error }));
  const port = await openChain(evm.through(proxy));
  expect(await port.send({ id: '0x', raw: '0x', terms: {} }, signal)).toEqual({ kind });
});

it('while the signer cannot pay for a transaction, nothing else is signed and the chain says so', async () => {
  const { db, lane, start } = await prepareSending();
  let [isPoor, checks] = [true, 0];
  const { port, pushed } = chainDouble();
  const delays = { resendMs: 300, replaceMs: 60_000, retryMs: 1 };
  const send: typeof port.send = (one, aborted) =>
    isPoor ? Promise.resolve({ kind: 'unaffordable' }) : port.send(one, aborted);
  const check: typeof port.check = (aborted) => {
    checks += 1;
    return port.check(aborted);
  };
  await lane('a', 1);
  await start({ ...port, delays, send, check });
  const stateOf = () =>
    db.selectFrom('chains').select(['status', 'reason']).where('name', '=', 'local').executeTakeFirst();
  const errorOf = async () =>
    (await db.selectFrom('pushes').select('error').where('deployment', '=', 'a').executeTakeFirst())?.error;
  await vi.waitFor(async () => expect((await stateOf())?.reason).toMatch('does not cover'), patiently);
  await vi.waitFor(
    async () => expect(await errorOf()).toMatchObject({ code: 'chain_unavailable' }),
    patiently,
  );
  await lane('b', 1);
  const before = checks;
  await vi.waitFor(() => expect(checks).toBeGreaterThan(before + 2), patiently);
  expect(await db.selectFrom('attempts').select('deployment').execute()).toEqual([{ deployment: 'a' }]);
  isPoor = false;
  await vi.waitFor(() => expect(pushed.map(({ deployment }) => deployment)).toEqual(['a', 'b']), patiently);
  await vi.waitFor(
    async () => expect(await stateOf()).toEqual({ status: 'available', reason: null }),
    patiently,
  );
  await vi.waitFor(async () => expect(await errorOf()).toBeNull(), patiently);
});
