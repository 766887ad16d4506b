import { expect, it, onTestFinished } from 'vitest';
import { answering, refusing, type Step, startScriptedServer } from '../../tests/scripted-server.js';
import { createOrrery } from '../orrery.js';

const LAST = 4;
const entry = (seq: number) => ({
  seq,
  kind: 'execution',
  event: 'race',
  status: 'succeeded',
  changes: [],
  stateChanges: {},
  llm: null,
});

/** A deployment of four entries, and its forks. `replayed`: how the entry is answered. */
async function source(
  replayed: (seq: number) => Step = (seq) =>
    answering({ outcome: 'executed', entry: entry(seq), error: null }),
) {
  const server = await startScriptedServer((reply, request) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const after = Number(searchParams.get('after') ?? LAST + 1);
    const page = Array.from({ length: after - 1 }, (_, at) => entry(after - 1 - at));
    const step = pathname.endsWith('/history')
      ? answering(page.slice(0, Number(searchParams.get('limit'))))
      : pathname.endsWith('/replay')
        ? replayed(JSON.parse(request.body).seq)
        : answering({ name: 'Derby', address: '0xf0', worldAddress: '0xab' });
    step(reply, request);
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const forks = (method: string) =>
    server.received.filter((one) => one.method === method && !one.url.endsWith('/replay'));
  return { deployment: createOrrery({ url: server.url, token: 'secret' }).deployment(1, 2), forks };
}

it('executes what is left of an iteration that goes on', async () => {
  const { deployment } = await source();
  const replay = deployment.replay();
  await replay[Symbol.asyncIterator]().next();
  expect(await replay.comparison()).toMatchObject({ from: 2, to: LAST, runs: [{ entries: 3 }] });
});

it('has no comparison after an iteration that was left', async () => {
  const { deployment, forks } = await source();
  const replay = deployment.replay({ times: 2 });
  for await (const { run } of replay) if (run === 2) break;
  await expect(replay.comparison()).rejects.toThrow('The iteration was left before its end');
  expect([forks('POST').length, forks('DELETE').length]).toEqual([2, 2]);
});

it('has none after one that has failed, and says why', async () => {
  const { deployment } = await source(() => refusing(403, 'forbidden'));
  const replay = deployment.replay();
  await expect(replay[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'forbidden' });
  await expect(replay.comparison()).rejects.toMatchObject({ code: 'forbidden' });
});

it('has none after one that was aborted', async () => {
  const { deployment } = await source();
  const leaving = new AbortController();
  const replay = deployment.replay({ signal: leaving.signal });
  const reason = new Error('left');
  await replay[Symbol.asyncIterator]().next();
  leaving.abort(reason);
  await expect(replay[Symbol.asyncIterator]().next()).rejects.toBe(reason);
  await expect(replay.comparison()).rejects.toBe(reason);
});
