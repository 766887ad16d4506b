import { ANVIL_KEYS } from '@orrery/testing/servers';
import { type Hex, keccak256, toFunctionSelector } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, it, vi } from 'vitest';
import { startEvm } from './evm-house.js';
import { type Fault, startFaultProxy } from './fault-proxy.js';
import { prepareHouse } from './running-pusher.js';

const plan = { targetChains: ['local'], onchain: null };
const patiently = { interval: 50 };
const signer = privateKeyToAccount(ANVIL_KEYS[0]).address;
const LAST = toFunctionSelector('lastNumber(address)');
const NONE = `0x${'00'.repeat(32)}`;
interface Call {
  readonly data: string;
}
type House = Awaited<ReturnType<typeof prepareHouse>>;

const untilStatus = ({ pushes }: House, deployment: string, status: string) =>
  vi.waitFor(async () => {
    const { data } = await pushes(deployment);
    expect(data[0]?.status).toBe(status);
    return data[0];
  }, patiently);

function executeNow({ runtime }: House, deployment: string) {
  void runtime.publish(runtime.execute(deployment, { plan }));
}

/** A chain with a push of a deployment, a database that has lost it, and a proxy that says what `eth_getLogs` answers. */
async function startRestored(answer: (count: number) => Fault) {
  const evm = await startEvm();
  const before = await prepareHouse();
  const lost = before.runtime.createDeployment();
  executeNow(before, lost);
  const running = await before.boot(evm.chain);
  await untilStatus(before, lost, 'confirmed');
  await running[Symbol.asyncDispose]();
  let searches = 0;
  const proxy = await startFaultProxy(evm.url, ({ method }) => {
    if (method !== 'eth_getLogs') return 'pass';
    searches += 1;
    return answer(searches);
  });
  const restored = await prepareHouse(before.runtime);
  await restored.boot(evm.through(proxy));
  return { evm, restored, lost };
}

it.each<[string, Fault]>([
  ['refuses to search logs', { error: 'eth_getLogs is limited to a 10,000 range', code: -32_005 }],
  ['is always too busy to search logs', { error: 'limit exceeded', code: -32_005 }],
  ['does not answer where it is to search logs', 'refuse'],
])('a lane of a lost database, and another one, go on though every server %s', async (_what, fault) => {
  const { evm, restored, lost } = await startRestored(() => fault);
  const other = restored.runtime.createDeployment();
  for (const deployment of [lost, other]) executeNow(restored, deployment);
  for (const deployment of [lost, other]) await untilStatus(restored, deployment, 'confirmed');
  expect((await evm.pushed()).filter(({ deployment }) => deployment.toLowerCase() === lost)).toHaveLength(2);
});

it('a push that a lost database finds on the chain has its transaction, though the server was busy for a while', async () => {
  const busy: Fault = { error: 'limit exceeded', code: -32_005 };
  const { evm, restored, lost } = await startRestored((count) => (count <= 3 ? busy : 'pass'));
  const push = await untilStatus(restored, lost, 'confirmed');
  expect(push?.transaction).toBe((await evm.pushed())[0]?.transactionHash);
});

it('a transaction that the node answers with an internal error is in doubt, and no other lane waits for it', async () => {
  const evm = await startEvm();
  const house = await prepareHouse();
  const [refused, other] = [house.runtime.createDeployment(), house.runtime.createDeployment()];
  const broken: Fault = { error: 'internal error', code: -32_603 };
  const proxy = await startFaultProxy(evm.url, ({ method, params: [raw] }) =>
    method === 'eth_sendRawTransaction' && String(raw).includes(refused.slice(2)) ? broken : 'pass',
  );
  for (const deployment of [refused, other]) executeNow(house, deployment);
  await house.boot(evm.through(proxy));
  await untilStatus(house, other, 'confirmed');
  // That the node takes others in between is what tells its answer from one about the node itself.
  await vi.waitFor(async () => {
    executeNow(house, other);
    const { data } = await house.pushes(refused);
    expect(data[0]?.error).toEqual({ code: 'push_refused', detail: 'internal error' });
  }, patiently);
});

it('no lane fails because the node takes no transaction at all for a while', async () => {
  const evm = await startEvm();
  const house = await prepareHouse();
  const lanes = [house.runtime.createDeployment(), house.runtime.createDeployment()];
  const broken: Fault = { error: 'internal error', code: -32_603 };
  let refused = 0;
  const proxy = await startFaultProxy(evm.url, ({ method }) => {
    if (method !== 'eth_sendRawTransaction' || refused === 30) return 'pass';
    refused += 1;
    return broken;
  });
  for (const deployment of lanes) executeNow(house, deployment);
  await house.boot(evm.through(proxy));
  for (const deployment of lanes) await untilStatus(house, deployment, 'confirmed');
  expect(refused).toBe(30);
  for (const deployment of lanes) expect((await house.pushes(deployment)).data[0]?.error).toBeNull();
});

it('a transaction that no node has taken is sent again as it is, and not outbid', async () => {
  const evm = await startEvm();
  const house = await prepareHouse();
  const alone = house.runtime.createDeployment();
  const broken: Fault = { error: 'internal error', code: -32_603 };
  const sent: unknown[] = [];
  let isBroken = true;
  const proxy = await startFaultProxy(evm.url, ({ method, params: [raw] }) => {
    if (method !== 'eth_sendRawTransaction' || !isBroken) return 'pass';
    sent.push(raw);
    return broken;
  });
  executeNow(house, alone);
  await house.boot(evm.through(proxy));
  await vi.waitFor(async () => {
    const { data } = await house.pushes(alone);
    expect(data[0]?.error).toEqual({ code: 'push_unclear', detail: 'internal error' });
  }, patiently);
  // There is a pause after each of them, and a transaction is replaced after four such pauses.
  await vi.waitFor(() => expect(sent.length).toBeGreaterThan(10), patiently);
  expect(new Set(sent).size).toBe(1);
  isBroken = false;
  const push = await untilStatus(house, alone, 'confirmed');
  expect(push?.transaction).toBe(keccak256(sent[0] as Hex));
});

it('nothing is concluded from a server of another chain', async () => {
  const evm = await startEvm();
  const house = await prepareHouse();
  const deployment = house.runtime.createDeployment();
  executeNow(house, deployment);
  const before = await house.boot(evm.chain);
  await untilStatus(house, deployment, 'confirmed');
  await before[Symbol.asyncDispose]();
  const other: Record<string, unknown> = { eth_chainId: '0x1', eth_getTransactionReceipt: null };
  let asked = 0;
  const proxy = await startFaultProxy(evm.url, ({ method }): Fault => {
    if (method === 'eth_chainId') asked += 1;
    return method in other ? { own: other[method] } : 'pass';
  });
  await house.boot(evm.through(proxy));
  await vi.waitFor(() => expect(asked).toBeGreaterThan(3), patiently);
  expect((await house.call('chains.list', {})).data[0]?.status).toBe('unavailable');
  expect((await house.pushes(deployment)).data[0]?.status).toBe('confirmed');
});

it('nothing is concluded from a server that lags behind the one that told of the newest block', async () => {
  const evm = await startEvm();
  const house = await prepareHouse();
  const deployment = house.runtime.createDeployment();
  const countOf = async () => Number(await evm.rpc('eth_getTransactionCount', signer, 'latest'));
  const before = await countOf();
  const head = (await evm.rpc('eth_blockNumber')) as string;
  const old: Record<string, unknown> = {
    eth_getTransactionReceipt: null,
    eth_blockNumber: head,
    eth_call: NONE,
  };
  let answered = 0;
  // It knows nothing of the block with the push, which the other one tells of.
  const proxy = await startFaultProxy(evm.url, async ({ method, params: [asked] }): Promise<Fault> => {
    const isOld = method in old && (method !== 'eth_call' || String((asked as Call).data).startsWith(LAST));
    if (!isOld || (await countOf()) === before || answered >= 12) return 'pass';
    answered += 1;
    return { own: old[method] };
  });
  executeNow(house, deployment);
  await house.boot(evm.through(proxy));
  await vi.waitFor(() => expect(answered).toBe(12), patiently);
  await untilStatus(house, deployment, 'confirmed');
  expect(await countOf()).toBe(before + 1);
});

it('a lane is not adopted at the number of a server that lags behind the one that told of the newest block', async () => {
  const evm = await startEvm();
  const before = await prepareHouse();
  const deployment = before.runtime.createDeployment();
  for (const at of [1, 2]) before.runtime.execute(deployment, { plan, result: { at } });
  const running = await before.boot(evm.chain);
  await vi.waitFor(async () => {
    const { data } = await before.pushes(deployment);
    expect(data[0]).toMatchObject({ number: 2, status: 'confirmed' });
  }, patiently);
  await running[Symbol.asyncDispose]();
  before.runtime.journals.get(deployment)?.splice(-2);
  const restored = await prepareHouse(before.runtime);
  restored.runtime.execute(deployment, { plan, result: { at: 3 } });
  const first = await restored.boot(evm.chain);
  await vi.waitFor(async () => {
    const { data } = await restored.pushes(deployment);
    expect(data[0]?.error?.code).toBe('chain_ahead');
  }, patiently);
  await first[Symbol.asyncDispose]();
  let [isBehind, answered] = [true, 0];
  const proxy = await startFaultProxy(evm.url, ({ method, params: [asked] }): Fault => {
    if (!isBehind) return 'pass';
    if (method === 'eth_blockNumber') return { own: '0x1' };
    if (method !== 'eth_call' || !String((asked as Call).data).startsWith(LAST)) return 'pass';
    answered += 1;
    return { own: `0x${'1'.padStart(64, '0')}` };
  });
  await restored.boot(evm.through(proxy));
  const adopted = restored.adopt(deployment, 'local');
  await vi.waitFor(() => expect(answered).toBeGreaterThan(1), patiently);
  isBehind = false;
  expect(await adopted).toContain('after number 2');
});
