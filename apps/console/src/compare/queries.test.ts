import { createOrrery } from '@orrery/sdk';
import { expect, it } from 'vitest';
import { changedBetween } from './queries.js';

const ref = { world: '1', deployment: '2' };
const { signal } = new AbortController();

/** A deployment whose entries each change an instance of their own; `asked`: the requests for its journal. */
function journalOf(length: number) {
  const asked: (string | null)[][] = [];
  const answer = async (request: Request) => {
    request.signal.throwIfAborted();
    const { searchParams } = new URL(request.url);
    asked.push(['after', 'limit'].map((name) => searchParams.get(name)));
    const first = Math.min(Number(searchParams.get('after')), length + 1) - 1;
    const data = Array.from({ length: Math.min(Number(searchParams.get('limit')), first) }, (_, at) => ({
      seq: first - at,
      changes: [{ entitySchema: 'horse', instanceId: String(first - at) }],
    }));
    return Response.json({ success: true, data });
  };
  const orrery = createOrrery({ url: 'http://orrery.test', token: 'x', fetch: answer as typeof fetch });
  return { orrery, asked };
}

it('reads what entries between two moments have changed, those after the first alone', async () => {
  const { orrery, asked } = journalOf(60);
  const changed = await changedBetween(orrery, ref, { from: 20, to: 23 }, signal);
  expect([...changed].sort()).toEqual(['horse:21', 'horse:22', 'horse:23']);
  expect(asked).toEqual([['24', '3']]);
});

it('reads no more once so much has changed that both sides are read whole', async () => {
  const { orrery, asked } = journalOf(900);
  expect((await changedBetween(orrery, ref, { from: 0, to: 900 }, signal)).size).toBe(41);
  expect(asked).toHaveLength(1);
});

it('ends with its page', async () => {
  const { orrery, asked } = journalOf(60);
  await expect(
    changedBetween(orrery, ref, { from: 0, to: 9 }, AbortSignal.abort(new Error('left'))),
  ).rejects.toThrow('left');
  expect(asked).toEqual([]);
});
