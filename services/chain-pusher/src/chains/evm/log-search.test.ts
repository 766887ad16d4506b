import { expect, it } from 'vitest';
import { ServersAway } from '../../core/chains/chain-port.js';
import { type RpcCall, RpcFailure } from '../rpc/json-rpc.js';
import { LogSearch } from './log-search.js';

const { signal } = new AbortController();
const contract = `0x${'c0'.repeat(20)}`;
const deployment = `0x${'5a'.repeat(20)}`;
const transaction = `0x${'ab'.repeat(32)}`;
const FOUND = [{ address: contract, transactionHash: transaction }];
const BUSY = new RpcFailure('limit exceeded', -32_005);

/** A search of servers whose answers to it are these, one batch after the other; the last one is repeated. */
function searchOf(answers: readonly ((number: number) => unknown)[], { retryMs = 0, head = 7 } = {}) {
  let asked = 0;
  const answersOfAny = async ([, ...calls]: readonly RpcCall[]) => {
    const answer = answers[Math.min(asked, answers.length - 1)] ?? (() => FOUND);
    asked += 1;
    return [`0x${head}`, ...calls.map(({ params: [filter] }) => answer(numberIn(filter)))];
  };
  const search = new LogSearch({ rpc: { answersOfAny }, contract, retryMs });
  const find = (...numbers: number[]) => search.transactionsOf(deployment, numbers, 7, signal);
  return { find, asked: () => asked };
}
const numberIn = (filter: unknown) => Number((filter as { topics: string[] }).topics[2]);
const raise = (error: Error) => () => {
  throw error;
};

it.each<[string, (number: number) => unknown]>([
  ['says that it does not offer it', () => new RpcFailure('the method does not exist', -32_601)],
  ['finds the range too large', () => new RpcFailure('block range is too wide', -32_600)],
  ['finds too much', () => new RpcFailure('query returned more than 10000 results', -32_005)],
  ['finds fault with the request', raise(new ServersAway('', { cause: new RpcFailure('status 403', 403) }))],
  ['has no such log', () => []],
  ['tells of logs of others', () => [{ address: `0x${'00'.repeat(20)}`, transactionHash: transaction }]],
])('a server that %s is asked once', async (_what, answer) => {
  const { find, asked } = searchOf([answer]);
  expect(await find(1, 2)).toEqual([null, null]);
  expect(asked()).toBe(1);
});

it.each<[string, (number: number) => unknown]>([
  ['is busy', () => BUSY],
  ['limits requests by a code of its own', () => new RpcFailure('50/second request limit reached', -32_007)],
  ['has an error of its own', () => new RpcFailure('internal error', -32_603)],
  ['does not answer', raise(new ServersAway('', { cause: new Error('timeout') }))],
  ['is busy while another is away', raise(new ServersAway('', { cause: BUSY }))],
])(
  'a server that %s is asked again, and given up after six tries until it answers',
  async (_what, answer) => {
    const { find } = searchOf([...Array(3).fill(answer), () => FOUND, ...Array(7).fill(answer), () => FOUND]);
    for (let count = 0; count < 3; count += 1) await expect(find(1)).rejects.toThrow('cannot be searched');
    expect(await find(1)).toEqual([transaction]);
    for (let count = 0; count < 5; count += 1) await expect(find(1)).rejects.toThrow('cannot be searched');
    for (let count = 0; count < 2; count += 1) expect(await find(1)).toEqual([null]);
    expect(await find(1)).toEqual([transaction]);
  },
);

it('what a server finds before it is busy counts, and the rest is asked for later', async () => {
  const { find } = searchOf([(number) => (number === 3 ? BUSY : FOUND)]);
  for (let count = 0; count < 10; count += 1)
    expect(await find(1, 2, 3, 4)).toEqual([transaction, transaction]);
});

it('is not asked in the pause after it was busy', async () => {
  const { find, asked } = searchOf([() => BUSY], { retryMs: 1e9 });
  for (let count = 0; count < 10; count += 1) await expect(find(1)).rejects.toThrow('cannot be searched');
  expect(asked()).toBe(1);
});

it('what a server that lags does not find may yet be found', async () => {
  await expect(searchOf([() => []], { head: 6 }).find(1)).rejects.toThrow('cannot be searched');
});
