import { canonicalJson } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import type { MentionedIn } from './memo-claims.js';
import { createMemoIndex } from './memo-index.js';

const { signal } = new AbortController();
const [deployment, crowd, quiet] = ['ab', 'cd', 'ef'].map((byte) => `0x${byte.repeat(20)}`) as [
  string,
  string,
  string,
];
const limits = { maxEntries: 1200, maxPages: 2 };
const reading = 'still being read';

interface OnChain extends MentionedIn {
  readonly isOurs: boolean;
}

const push = (signature: string, of: string, number: number, isOurs = true): OnChain => ({
  signature,
  err: null,
  memo: `[99] ${canonicalJson({ v: 1, deployment: of, number, digest: '0'.repeat(64) })}`,
  confirmationStatus: 'finalized',
  isOurs,
});
const many = (length: number, name: string, of: string, isOurs: boolean, from = 1) =>
  Array.from({ length }, (_, at) => push(`${name}${from + at}`, of, from + at, isOurs));

/** A server with these transactions, oldest first, and what each question costs it. */
function serverWith(...transactions: OnChain[]) {
  const chain = [...transactions];
  let [lists, reads] = [0, 0];
  const index = createMemoIndex(
    {
      list: async ({ before, until }) => {
        lists += 1;
        const all = chain.toReversed();
        const from = all.findIndex(({ signature }) => signature === before) + 1;
        const to = until === undefined ? -1 : all.findIndex(({ signature }) => signature === until);
        return all.slice(from, to === -1 ? undefined : to).slice(0, 1000);
      },
      signedMemos: async (signatures) => {
        reads += signatures.length;
        const bySignature = new Map(chain.map((one) => [one.signature, one]));
        return signatures.map((id) => {
          const found = bySignature.get(id);
          return found?.isOurs ? found.memo?.replace('[99] ', '') : undefined;
        });
      },
    },
    limits,
  );
  const ask = async (of: string, after = 0) => {
    [lists, reads] = [0, 0];
    const numbers = await index.of(of, after, signal).then(
      (found) => found.map(({ from }) => from),
      ({ message }: Error) => message.slice(-reading.length),
    );
    return { numbers, lists, reads };
  };
  /** Asks until there is an answer. */
  const askOn = async (of: string, after = 0) => {
    const asked = [await ask(of, after)];
    while (asked.at(-1)?.numbers === reading && asked.length < 100) asked.push(await ask(of, after));
    return asked;
  };
  return { chain, ask, askOn };
}

const answerOf = (asked: readonly { numbers: unknown }[]) => asked.at(-1)?.numbers;

describe('more memos than are kept', () => {
  it("are read to their end, however many are strangers', with bounded work for each question", async () => {
    const { askOn } = serverWith(
      push('first', deployment, 1),
      ...many(5001, 'lie', deployment, false),
      push('second', deployment, 2),
      ...many(1201, 'crowd', crowd, true),
    );
    const asked = await askOn(deployment);
    expect(answerOf(asked)).toEqual([1, 2]);
    expect(asked.length).toBeLessThan(12);
    for (const { lists, reads } of asked) {
      expect(lists).toBeLessThanOrEqual(3 * limits.maxPages);
      expect(reads).toBeLessThanOrEqual(2000);
    }
  });

  it('are not listed again for a deployment of which they hold nothing that is new', async () => {
    const { askOn, ask } = serverWith(
      push('first', deployment, 1),
      ...many(5000, 'lie', crowd, false),
      ...many(1201, 'own', quiet, true),
    );
    await askOn(quiet, 1201);
    expect(await ask(deployment, 1)).toEqual({ numbers: [], lists: 1, reads: 0 });
    expect(answerOf(await askOn(deployment, 0))).toEqual([1]);
  });

  it('stay known when newer ones take their place', async () => {
    const { chain, askOn, ask } = serverWith(
      push('first', deployment, 1),
      ...many(400, 'crowd', crowd, true),
    );
    expect(answerOf(await askOn(deployment))).toEqual([1]);
    chain.push(push('second', deployment, 2), ...many(900, 'crowd', crowd, true, 401));
    expect(answerOf(await askOn(deployment))).toEqual([1, 2]);
    chain.push(...many(900, 'crowd', crowd, true, 1301));
    expect(answerOf(await askOn(deployment))).toEqual([1, 2]);
    expect(await ask(deployment, 2)).toMatchObject({ numbers: [], reads: 0 });
  });

  it('stay known each, also where the newer ones begin', async () => {
    const own = (number: number) => `0x${number.toString(16).padStart(40, '0')}`;
    const pushes = Array.from({ length: 1300 }, (_, at) => push(`own${at}`, own(at), 1));
    const { chain, askOn } = serverWith(...pushes.slice(0, 400));
    await askOn(own(0));
    chain.push(...pushes.slice(400));
    for (const at of pushes.keys()) expect([at, answerOf(await askOn(own(at)))]).toEqual([at, [1]]);
  });

  it('are read anew where newer ones join them during the reading', async () => {
    const { chain, askOn, ask } = serverWith(
      ...many(3000, 'lie', deployment, false),
      ...many(1201, 'crowd', crowd, true),
    );
    await askOn(quiet);
    expect(await ask(deployment)).toMatchObject({ numbers: reading });
    chain.push(push('own', deployment, 1), ...many(1201, 'crowd', crowd, true, 1202));
    expect(answerOf(await askOn(deployment))).toEqual([1]);
  });

  it('are listed from the beginning where more are new than one question lists', async () => {
    const { chain, askOn, ask } = serverWith(push('first', deployment, 1));
    expect(answerOf(await askOn(deployment))).toEqual([1]);
    chain.push(...many(2500, 'lie', crowd, false), push('second', deployment, 2));
    expect(await ask(deployment)).toMatchObject({ numbers: reading, lists: limits.maxPages });
    expect(answerOf(await askOn(deployment))).toEqual([1, 2]);
  });
});
