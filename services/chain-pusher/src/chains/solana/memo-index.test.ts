import { canonicalJson } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import type { MentionedIn } from './memo-claims.js';
import { createMemoIndex } from './memo-index.js';

const { signal } = new AbortController();
const deployment = `0x${'5a'.repeat(20)}`;
const digest = '0'.repeat(64);

interface OnChain extends MentionedIn {
  readonly isOurs: boolean;
}

const memoOf = (number: number) => canonicalJson({ v: 1, deployment, number, digest });
const transaction = (number: number, more: Partial<OnChain> = {}): OnChain => ({
  signature: `t${number}`,
  err: null,
  memo: `[1] ${memoOf(number)}`,
  confirmationStatus: 'finalized',
  isOurs: true,
  ...more,
});

/** A server with these transactions, oldest first. */
function serverWith(...transactions: OnChain[]) {
  const chain = [...transactions];
  const reads: string[][] = [];
  let lists = 0;
  const index = createMemoIndex({
    list: async ({ before, until }) => {
      lists += 1;
      const all = chain.toReversed();
      const from = all.findIndex(({ signature }) => signature === before) + 1;
      const to = until === undefined ? -1 : all.findIndex(({ signature }) => signature === until);
      return all.slice(from, to === -1 ? undefined : to).slice(0, 1000);
    },
    signedMemos: async (signatures) => {
      reads.push([...signatures]);
      return signatures.map((id) => {
        const found = chain.find(({ signature }) => signature === id);
        return found?.isOurs ? found.memo?.replace('[1] ', '') : undefined;
      });
    },
  });
  const numbers = async (after = 0) => (await index.of(deployment, after, signal)).map(({ from }) => from);
  return { chain, reads, numbers, lists: () => lists, index };
}

describe('the memos of the signer', () => {
  it('are those of transactions that it signed and that did not fail', async () => {
    const { numbers } = serverWith(
      transaction(1),
      transaction(2, { signature: 'foreign', isOurs: false }),
      transaction(2, { signature: 'failed', err: { InstructionError: [0, 'Custom'] } }),
      transaction(2, { signature: 'none', memo: null }),
      transaction(2),
    );
    expect(await numbers()).toEqual([1, 2]);
  });

  it('are what the transaction holds, not what the server says of it', async () => {
    const { index, chain } = serverWith(transaction(1));
    chain[0] = transaction(1, { memo: `[1] ${memoOf(1)}` });
    const lying = createMemoIndex({
      list: async () => [transaction(7)],
      signedMemos: async () => [memoOf(1)],
    });
    expect(await lying.of(deployment, 0, signal)).toEqual(
      await index.of(deployment, 0, signal).then(([one]) => [{ ...one, transaction: 't7' }]),
    );
  });

  it('are read once, for the numbers that are asked for alone', async () => {
    const { numbers, reads } = serverWith(transaction(1), transaction(2), transaction(3));
    expect(await numbers(2)).toEqual([3]);
    expect(await numbers(1)).toEqual([2, 3]);
    expect(await numbers(1)).toEqual([2, 3]);
    expect(reads.flat()).toEqual(['t3', 't2']);
  });

  it('are found over all pages, and afterwards only what is new is listed', async () => {
    const all = Array.from({ length: 2500 }, (_, at) => transaction(at + 1));
    const { numbers, chain, lists } = serverWith(...all);
    expect(await numbers(2490)).toHaveLength(10);
    expect(lists()).toBe(3);
    chain.push(transaction(2501));
    expect(await numbers(2499)).toEqual([2500, 2501]);
    expect(lists()).toBe(4);
  });

  it('are forgotten when a fork takes them away, and not doubled', async () => {
    const { numbers, chain } = serverWith(
      transaction(1),
      transaction(2, { confirmationStatus: 'confirmed' }),
    );
    expect(await numbers()).toEqual([1, 2]);
    chain.pop();
    expect(await numbers()).toEqual([1]);
    chain.push(transaction(2, { signature: 'again', confirmationStatus: 'confirmed' }));
    expect(await numbers()).toEqual([1, 2]);
    chain[1] = transaction(2, { signature: 'again' });
    expect(await numbers()).toEqual([1, 2]);
  });

  it("are read in parts where strangers' memos are many, and no other deployment waits for them", async () => {
    const { numbers, chain, reads, index } = serverWith(
      ...Array.from({ length: 2200 }, (_, at) => transaction(at + 1, { signature: `s${at}`, isOurs: false })),
    );
    chain.push(transaction(1));
    await expect(numbers()).rejects.toThrow('are still being read');
    expect(await index.of(`0x${'77'.repeat(20)}`, 0, signal)).toEqual([]);
    await expect(numbers()).rejects.toThrow('are still being read');
    expect(await numbers()).toEqual([1]);
    expect(reads.map(({ length }) => length)).toEqual([1000, 1000, 201]);
  });

  it('end where a server never does', async () => {
    const page = Array.from({ length: 1000 }, () => transaction(1, { memo: null }));
    const reader = { list: async () => page, signedMemos: async () => [] };
    await expect(createMemoIndex(reader).of(deployment, 0, signal)).rejects.toThrow(
      'the same transactions again',
    );
  });
});
