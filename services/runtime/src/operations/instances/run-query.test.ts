import { systemClock } from '@orrery/service-kit';
import { describe, expect, it } from 'vitest';
import type { RuntimeContext } from '../context.js';
import { createRunQuery } from './run-query.js';

const deployment = { id: 1 } as never;
const asking = (what: string) => ({ deployment, atSeq: undefined, question: [what] });
const calling = (signal = new AbortController().signal) => ({ signal, deadline: Date.now() + 60_000 });

/** One slot. Time stands still, but for `pass`; sleeps end when they are told to. */
function queries() {
  let now = 0;
  const sleeps: { ms: number; end: () => void }[] = [];
  const clock = {
    ...systemClock,
    monotonic: () => now,
    sleep: (ms: number) => new Promise<void>((end) => (ms === 0 ? end() : void sleeps.push({ ms, end }))),
  };
  const pools = { queriesAtOnce: 1, queries: { db: {} } };
  const runQuery = createRunQuery({ clock, pools } as unknown as RuntimeContext);
  const begun: { what: string; signal: AbortSignal; answer: (value: string) => void }[] = [];
  const ask = (what: string, call = calling()) =>
    runQuery(
      asking(what),
      call,
      (_db, work) =>
        new Promise<string>((answer) => {
          begun.push({ what, signal: (work as unknown as { signal: AbortSignal }).signal, answer });
        }),
    );
  return { ask, begun, sleeps, pass: (ms: number) => (now += ms), settled: () => new Promise(setImmediate) };
}

describe('queries that wait for their turn', () => {
  it('get one answer where they ask the same', async () => {
    const { ask, begun, settled } = queries();
    const first = ask('a');
    const same = [ask('b'), ask('b'), ask('b')];
    const other = ask('c');
    begun[0]?.answer('A');
    expect(await first).toBe('A');
    await settled();
    expect(begun.map(({ what }) => what)).toEqual(['a', 'b']);
    begun[1]?.answer('B');
    expect(await Promise.all(same)).toEqual(['B', 'B', 'B']);
    await settled();
    begun[2]?.answer('C');
    expect(await other).toBe('C');
  });

  it('do not join one that has begun: it may have read before they asked', async () => {
    const { ask, begun, settled } = queries();
    const [first, second] = [ask('a'), ask('a')];
    begun[0]?.answer('before');
    expect(await first).toBe('before');
    await settled();
    begun[1]?.answer('after');
    expect(await second).toBe('after');
  });

  it('go on while one of their callers stays, and end with the last', async () => {
    const { ask, begun, settled } = queries();
    const first = ask('a');
    const [one, other] = [new AbortController(), new AbortController()];
    const leaving = [ask('b', calling(one.signal)), ask('b', calling(other.signal))].map((asked) =>
      asked.catch((error: Error) => error.message),
    );
    begun[0]?.answer('A');
    await first;
    await settled();
    one.abort(new Error('gone'));
    await settled();
    expect(begun[1]?.signal.aborted).toBe(false);
    other.abort(new Error('gone too'));
    expect(await Promise.all(leaving)).toEqual(['gone', 'gone too']);
    expect(begun[1]?.signal.aborted).toBe(true);
  });

  it('are forgotten when their callers leave before they begin', async () => {
    const { ask, begun, settled } = queries();
    const first = ask('a');
    const gone = new AbortController();
    const left = ask('b', calling(gone.signal));
    gone.abort(new Error('gone'));
    const after = ask('b');
    await expect(left).rejects.toThrow('gone');
    begun[0]?.answer('A');
    await first;
    await settled();
    begun[1]?.answer('B');
    expect(await after).toBe('B');
    expect(begun).toHaveLength(2);
  });

  it('rest as long as the one before took, for each caller that it answered, up to half a second', async () => {
    const { ask, begun, pass, sleeps, settled } = queries();
    const asked = [ask('a'), ask('b'), ask('b'), ask('c'), ask('d')];
    for (const [at, ms] of [70, 70, 501, 0].entries()) {
      pass(ms);
      begun[at]?.answer('answered');
      await settled();
      expect(begun).toHaveLength(Math.min(at + 1, 4));
      sleeps[at]?.end();
      await settled();
    }
    expect(sleeps.map(({ ms }) => ms)).toEqual([70, 140, 500]);
    expect(await Promise.all(asked)).toEqual(Array(5).fill('answered'));
  });
});
