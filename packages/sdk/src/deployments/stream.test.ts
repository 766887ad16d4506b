import { expect, it, onTestFinished } from 'vitest';
import {
  answering,
  refusing,
  type Step,
  startScriptedServer,
  streaming,
} from '../../tests/scripted-server.js';
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
  ['an address without a scheme', { url: '127.0.0.1:3000' }, '1'],
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

it('takes a silent connection for lost', async () => {
  // Tells one entry, and nothing more.
  const next: Step = (reply, request) =>
    streaming([block(Number(request.headers['last-event-id']) + 1)], 'open')(reply, request);
  const { told, lastIds } = await follow({ after: 1, silenceMs: 50 }, next);
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
  const { told } = await follow({ after: 1, signal: leaving.signal }, streaming([block(2)], 'open'));
  expect(await told(1)).toEqual([2]);
  const waiting = told(1);
  leaving.abort();
  expect(await waiting).toEqual(['end']);
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
