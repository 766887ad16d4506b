import { expect, it, onTestFinished, vi } from 'vitest';
import { createOrrery } from '../orrery.js';

const SILENCE_MS = 1000;
const entry = (seq: number) => ({ seq, hash: `h${seq}`, prevHash: `h${seq - 1}`, kind: 'execution' });
const PAGE = new TextEncoder().encode(JSON.stringify({ success: true, data: [entry(2), entry(1)] }));
const PARTS = 8;

/** A page of the journal in parts, each after half of the silence that is allowed; some of them, where it stalls. */
const slowPage = (parts: number): Response => {
  const size = Math.ceil(PAGE.length / PARTS);
  let sent = 0;
  const pull = async (body: ReadableStreamDefaultController<Uint8Array>) => {
    await new Promise((later) => setTimeout(later, sent < parts ? SILENCE_MS / 2 : SILENCE_MS * 100));
    body.enqueue(PAGE.slice(sent * size, (sent + 1) * size));
    sent += 1;
    if (sent === PARTS) body.close();
  };
  return new Response(new ReadableStream({ pull }));
};

/** A stream that tells entry 3 and stays open. */
const live = (): Response => {
  const told = `id: 3\nevent: execution\ndata: ${JSON.stringify(entry(3))}\n\n`;
  const start = (body: ReadableStreamDefaultController<Uint8Array>) =>
    body.enqueue(new TextEncoder().encode(told));
  return new Response(new ReadableStream({ start }), { headers: { 'content-type': 'text/event-stream' } });
};

/** Counts the requests for pages, and the entries that are told. */
function follow(answer: () => Response) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const pages = vi.fn(answer);
  const send = async (request: string | URL | Request) =>
    (request as Request).url.endsWith('/stream') ? live() : pages();
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const told: string[] = [];
  const read = async () => {
    const deployment = createOrrery({ url: 'http://localhost', fetch: send }).deployment(1, 2);
    const options = { after: 0, include: 'all', silenceMs: SILENCE_MS, signal: leaving.signal } as const;
    for await (const event of deployment.stream(options))
      told.push(event.type === 'entry' ? `${event.entry.seq}` : event.type);
  };
  void read();
  return { pages, told };
}

it('waits for a page of the journal that arrives slowly, however long it takes', async () => {
  const { pages, told } = follow(() => slowPage(PARTS));
  await vi.advanceTimersByTimeAsync((SILENCE_MS * PARTS) / 2);
  expect(told).toEqual(['1', '2', '3']);
  expect(pages).toHaveBeenCalledTimes(1);
});

it('gives a page up that stalls in the middle', async () => {
  const parts = [3, PARTS];
  const { pages, told } = follow(() => slowPage(parts.shift() ?? 0));
  await vi.advanceTimersByTimeAsync(SILENCE_MS * 2.5 - 1);
  expect(pages).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(SILENCE_MS * 5);
  expect(told).toEqual(['1', '2', '3']);
  expect(pages).toHaveBeenCalledTimes(2);
});

it('asks less and less often where a login stands in place of the journal', async () => {
  const headers = { 'content-type': 'text/html' };
  const { pages, told } = follow(() => new Response('<h1>Log in</h1>', { headers }));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(told).toEqual([]);
  // 0.25, 0.5, 1 … 10 s, each up to half shorter.
  expect(pages.mock.calls.length).toBeGreaterThan(5);
  expect(pages.mock.calls.length).toBeLessThan(25);
});
