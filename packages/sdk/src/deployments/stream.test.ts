import { expect, it, onTestFinished, vi } from 'vitest';
import {
  answering,
  refusing,
  type Step,
  startScriptedServer,
  streaming,
} from '../../tests/scripted-server.js';
import { OrreryError } from '../errors/orrery-error.js';
import { createOrrery } from '../orrery.js';
import type { StreamEvent, StreamOptions } from './stream.js';

/** Each entry has the hash `h<seq>` unless told otherwise. */
const entry = (seq: number, more: object = {}) => ({
  seq,
  hash: `h${seq}`,
  prevHash: `h${seq - 1}`,
  kind: 'execution',
  ...more,
});
const block = (seq: number, more?: object) =>
  `id: ${seq}\nevent: execution\ndata: ${JSON.stringify(entry(seq, more))}`;

async function follow(options: StreamOptions, ...steps: Step[]) {
  const server = await startScriptedServer(...steps);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const deployment = createOrrery({ url: server.url, token: 'secret' }).deployment(1, 2);
  const events = deployment.stream(options);
  onTestFinished(async () => void (await events.return()));
  const told = async (count: number): Promise<(number | string)[]> => {
    const seen: (number | string)[] = [];
    while (seen.length < count) {
      const { value, done } = await events.next();
      if (done) return [...seen, 'end'];
      seen.push(nameOf(value));
    }
    return seen;
  };
  const lastIds = () =>
    server.received.filter(({ url }) => url.endsWith('/stream')).map((one) => one.headers['last-event-id']);
  return { server, told, lastIds };
}

const nameOf = (event: StreamEvent): number | string =>
  event.type === 'entry' ? event.entry.seq : event.type;

it('goes on after the last whole entry when the connection breaks in the middle of one', async () => {
  const { told, server, lastIds } = await follow(
    { after: 3 },
    streaming([block(4), block(6)], 'open'),
    streaming([block(6), block(9), block(10)], 'open'),
  );
  expect(await told(2)).toEqual([4, 6]);
  server.cut(`${block(9).slice(0, -9)}`);
  expect(await told(2)).toEqual([9, 10]);
  expect(lastIds()).toEqual(['3', '6']);
});

it('misses nothing between its first request and the first entry', async () => {
  const { told, server, lastIds } = await follow(
    {},
    answering([entry(7)]),
    streaming([], 'end'),
    streaming([block(8)], 'open'),
  );
  expect(await told(1)).toEqual([8]);
  expect(server.received[0]?.url).toContain('include=all&limit=1');
  expect(lastIds()).toEqual(['7', '7']);
});

it('goes on after the heartbeats, which move past what is no execution', async () => {
  const { told, lastIds } = await follow(
    { after: 1 },
    streaming([block(2), ': still here\nid: 20'], 'end'),
    streaming([block(21)], 'open'),
  );
  expect(await told(2)).toEqual([2, 21]);
  expect(lastIds()).toEqual(['1', '20']);
});

it.each([
  ['an entry', block(52)],
  ['a heartbeat', ': still here\nid: 51'],
])(
  'ends where %s is before what was told: the journal was cut, and its numbers come again',
  async (_what, next) => {
    const { told, lastIds } = await follow(
      { after: 98 },
      streaming([block(99), ': still here\nid: 100'], 'end'),
      streaming([next, block(101)], 'open'),
    );
    expect(await told(1)).toEqual([99]);
    await expect(told(1)).rejects.toMatchObject({ code: 'tail_lost', facts: { seq: 100 } });
    expect(lastIds()).toEqual(['98', '100']);
  },
);

it.each([
  ['an address that is no URL', { url: 'http://127.0.0.1:99999' }, '1'],
  ['an empty path', { url: 'http://127.0.0.1:1' }, ''],
  [
    'a token that cannot be had',
    { url: 'http://127.0.0.1:1', token: () => Promise.reject(new Error('no token')) },
    '1',
  ],
])('throws for %s in place of trying for ever', async (_what, options, address) => {
  const deployment = createOrrery(options).deployment('1', address);
  await expect(deployment.stream().next()).rejects.not.toMatchObject({ code: 'network_error' });
  if (address !== '')
    await expect(deployment.stream({ after: 1 }).next()).rejects.not.toMatchObject({ code: 'network_error' });
});

it('throws what the program throws when the stream opens', async () => {
  const { told } = await follow(
    {
      after: 1,
      onConnection: () => {
        throw new Error('of the program');
      },
    },
    streaming([block(2)], 'open'),
  );
  await expect(told(1)).rejects.toThrow('of the program');
});

it('tells pushes', async () => {
  const push = 'event: push\ndata: {"chain":"base-sepolia","status":"confirmed"}';
  const { told } = await follow({ after: 1 }, streaming([push, block(2)], 'open'));
  expect(await told(2)).toEqual(['push', 2]);
});

it('ends at an event that is no JSON, which would come again and again', async () => {
  const { told, lastIds } = await follow(
    { after: 1 },
    streaming([block(2), 'id: 3\nevent: execution\ndata: {"seq":'], 'open'),
  );
  expect(await told(1)).toEqual([2]);
  await expect(told(1)).rejects.toMatchObject({ code: 'unreadable_event' });
  expect(lastIds()).toEqual(['1']);
});

it('connects again in a page, whose addresses have no origin', async () => {
  const server = await startScriptedServer(
    streaming([block(2)], 'end'),
    (reply) => void reply.destroy(),
    streaming([block(3)], 'open'),
  );
  onTestFinished(() => server[Symbol.asyncDispose]());
  const { Request } = globalThis;
  const inPage = class extends Request {
    constructor(input: string | URL | globalThis.Request, init?: RequestInit) {
      super(typeof input === 'string' ? new URL(input, server.url) : input, init);
    }
  };
  vi.stubGlobal('Request', inPage);
  onTestFinished(() => void vi.unstubAllGlobals());
  const events = createOrrery({ url: '' }).published('0xab').stream({ after: 1 });
  onTestFinished(async () => void (await events.return()));
  const told = [await events.next(), await events.next()].map(({ value }) => nameOf(value as StreamEvent));
  expect(told).toEqual([2, 3]);
  expect(server.received).toHaveLength(3);
});

/** Passes when a request takes longer, too: it is sent again. */
const SILENCE_MS = 250;
const silent: Step = () => undefined;
const dripping: Step = (reply) => {
  reply.writeHead(503, { 'content-type': 'application/problem+json' });
  const drops = setInterval(() => reply.write(' '), SILENCE_MS / 5);
  reply.on('close', () => clearInterval(drops));
};
const firstly = (first: Step, then: Step): Step => {
  let isFirst = true;
  return (reply, request) => {
    const step = isFirst ? first : then;
    isFirst = false;
    step(reply, request);
  };
};
/** The stream, and the pages of the journal. */
const routed =
  (stream: Step, journal: Step): Step =>
  (reply, request) =>
    (request.url.endsWith('/stream') ? stream : journal)(reply, request);

it.each([
  ['never answers', silent],
  ['answers without end', dripping],
])('goes on where the server %s', async (_, step) => {
  const { told } = await follow(
    { after: 1, silenceMs: SILENCE_MS },
    firstly(step, streaming([block(2)], 'open')),
  );
  expect(await told(1)).toEqual([2]);
});

const stalled: Step = (reply) =>
  void reply.writeHead(200, { 'content-type': 'application/json' }).write('{"success":true,"data":[');
const page: Step = (reply) => void reply.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>');
const ALL = { after: 5, include: 'all' } as const;

it.each<[string, StreamOptions, string, Step, number[]]>([
  ['the end of the journal', {}, 'is never answered', silent, [7]],
  ['what the stream leaves out', ALL, 'is never answered', silent, [6, 7]],
  ['what the stream leaves out', ALL, 'stalls in the middle', stalled, [6, 7]],
  ['what the stream leaves out', ALL, 'is answered with a page', page, [6, 7]],
])('goes on where a reading of $0 $2', async (_what, options, _how, step, seqs) => {
  const journal = firstly(step, answering([entry(6)]));
  const { told } = await follow(
    { ...options, silenceMs: SILENCE_MS },
    routed(streaming([block(7)], 'open'), journal),
  );
  expect(await told(seqs.length)).toEqual(seqs);
});

it.each<[string, Step]>([
  [
    'is no stream',
    (reply) => void reply.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>\n\n'),
  ],
  ['says nothing', (reply) => void reply.writeHead(204).end()],
  [
    'breaks off while it refuses',
    (reply) => {
      reply.writeHead(403, { 'content-length': 1000 });
      reply.write('{', () => reply.destroy());
    },
  ],
])('is tried again where the answer %s', async (_, step) => {
  const onConnection = vi.fn();
  const { told } = await follow({ after: 1, onConnection }, step, streaming([block(2)], 'open'));
  expect(await told(1)).toEqual([2]);
  expect(onConnection.mock.calls).toEqual([[false, expect.any(OrreryError)], [true]]);
});

it.each([
  ['7', 7000],
  // Not for a year, for a server that is back.
  ['31536000', 300_000],
])('waits for a Retry-After of %s', async (retryAfter, ms) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const headers = { 'retry-after': retryAfter };
  const send = vi.fn(async () => new Response('{"code":"overloaded"}', { status: 503, headers }));
  const leaving = new AbortController();
  const { signal } = leaving;
  const deployment = createOrrery({ url: 'http://localhost', fetch: send }).deployment(1, 2);
  const ended = deployment.stream({ after: 1, signal }).next();
  await vi.advanceTimersByTimeAsync(ms - 1);
  expect(send).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(send).toHaveBeenCalledTimes(2);
  leaving.abort();
  await ended;
});

it('takes a silent connection for lost', async () => {
  // Tells one entry, and nothing more.
  const next: Step = (reply, request) =>
    streaming([block(Number(request.headers['last-event-id']) + 1)], 'open')(reply, request);
  const { told, lastIds } = await follow({ after: 1, silenceMs: SILENCE_MS }, next);
  expect(await told(3)).toEqual([2, 3, 4]);
  expect(lastIds()).toEqual(expect.arrayContaining(['1', '2', '3']));
});

it('is tried again while the service is away, and ends with the reason when it refuses', async () => {
  const end = 'event: end\ndata: {"code":"unauthorized"}';
  const { told } = await follow(
    { after: 1 },
    refusing(503, 'overloaded'),
    streaming([block(2), end], 'end'),
    refusing(401, 'unauthorized'),
  );
  expect(await told(1)).toEqual([2]);
  await expect(told(1)).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
});

it('ends without an error with its signal, also while it waits', async () => {
  const leaving = new AbortController();
  const onConnection = vi.fn();
  const { told } = await follow(
    { after: 1, signal: leaving.signal, onConnection },
    streaming([block(2)], 'open'),
  );
  expect(await told(1)).toEqual([2]);
  const waiting = told(1);
  leaving.abort();
  expect(await waiting).toEqual(['end']);
  expect(onConnection.mock.calls).toEqual([[true]]);
});

it('fills what the stream leaves out from the journal, on request', async () => {
  const manual = (seq: number) => entry(seq, { kind: 'instance_updated' });
  const { told, server } = await follow(
    { after: 3, include: 'all' },
    streaming([block(6), ': still here\nid: 7'], 'open'),
    answering([manual(5), manual(4)]),
    answering([manual(7)]),
  );
  expect(await told(4)).toEqual([4, 5, 6, 7]);
  expect(server.received.slice(1).map(({ url }) => url.split('?')[1])).toEqual([
    'include=all&after=6&limit=2',
    'include=all&after=8&limit=1',
  ]);
});

it('says so when the journal was cut and went on differently', async () => {
  const { told } = await follow(
    { after: 3 },
    streaming([block(4), block(5)], 'end'),
    streaming([block(5, { hash: 'other' })], 'open'),
  );
  expect(await told(2)).toEqual([4, 5]);
  await expect(told(1)).rejects.toMatchObject({ code: 'tail_lost', facts: { seq: 5, hash: 'h5' } });
});

it('finds that from the first entry on, where it is given the hash of the one before', async () => {
  const begun = (hash: string) => follow({ after: { seq: 3, hash } }, streaming([block(4)], 'open'));
  const { told, lastIds } = await begun('h3');
  expect(await told(1)).toEqual([4]);
  expect(lastIds()).toEqual(['3']);
  const other = await begun('other');
  await expect(other.told(1)).rejects.toMatchObject({
    code: 'tail_lost',
    facts: { seq: 3, hash: 'other' },
  });
});

it('finds that also in the link of the next entry', async () => {
  const { told } = await follow({ after: 3 }, streaming([block(4), block(5, { prevHash: 'other' })], 'open'));
  expect(await told(1)).toEqual([4]);
  await expect(told(1)).rejects.toMatchObject({ code: 'tail_lost' });
});
