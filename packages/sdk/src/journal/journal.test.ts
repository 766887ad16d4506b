import { expect, it, onTestFinished } from 'vitest';
import { answering, refusing, startScriptedServer } from '../../tests/scripted-server.js';
import { createOrrery } from '../orrery.js';

const LENGTH = 130;

/** A journal whose entries are large: a page of more than 40 is refused. */
async function largeEntries() {
  const server = await startScriptedServer((reply, request) => {
    const query = new URL(request.url, 'http://localhost').searchParams;
    const [limit, after] = [Number(query.get('limit')), Number(query.get('after') ?? LENGTH + 1)];
    const first = Math.min(after, LENGTH + 1) - 1;
    const page = Array.from({ length: Math.min(limit, first) }, (_, at) => ({ seq: first - at }));
    const step = limit > 40 ? refusing(400, 'page_too_deep') : answering(page);
    step(reply, request);
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return createOrrery({ url: server.url, token: 'secret' }).deployment(1, 2);
}

async function seqsOf(entries: AsyncIterable<{ seq: number }>): Promise<number[]> {
  const seqs: number[] = [];
  for await (const { seq } of entries) seqs.push(seq);
  return seqs;
}

const ascending = Array.from({ length: LENGTH }, (_, at) => at + 1);

it('reads entries in smaller pages where a page would be too large', async () => {
  const deployment = await largeEntries();
  expect(await seqsOf(deployment.journal())).toEqual(ascending);
  expect(await seqsOf(deployment.journal({ after: 50, until: 105 }))).toEqual(ascending.slice(50, 105));
  expect(await seqsOf(deployment.history())).toEqual(ascending.toReversed());
});
