import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  answering,
  breaking,
  page,
  type Received,
  runCommand,
  type Step,
  startScriptedServer,
} from './scripted-server.js';

const ADDRESS = `0x${'a'.repeat(40)}`;
const DEPLOYMENT = `${ADDRESS}/${ADDRESS}`;
const keyOf = ({ headers }: Received) => headers['idempotency-key'];

/** A server that answers each path with its step, and cuts the first answer to each POST that takes a key. */
async function startCutting(stepOf: (asked: string) => Step) {
  const cut = new Set<string>();
  return startScriptedServer((reply, request) => {
    const key = `${request.url} ${keyOf(request)}`;
    if (keyOf(request) === undefined || cut.has(key))
      return stepOf(`${request.method} ${request.url}`)(reply, request);
    cut.add(key);
    breaking(reply, request);
  });
}

describe('what takes a key is repeated with it where its answer is lost', () => {
  it('by `world apply`', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'orrery-apply-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    for (const below of ['events', 'schemas']) await mkdir(join(folder, below));
    await writeFile(join(folder, 'world.yaml'), 'name: Downs\n');
    await writeFile(join(folder, 'events/race day.yaml'), 'name: race day\n');
    await writeFile(join(folder, 'schemas/horse.yaml'), 'name: horse\n');
    const { url, received } = await startCutting((asked) => {
      if (asked.startsWith('GET /api/worlds?')) return answering([]);
      if (asked === 'POST /api/worlds/check') return answering({ problems: [], warnings: [] });
      return answering({ address: ADDRESS });
    });
    const { message, out } = await runCommand(url, 'world', 'apply', folder, '--yes');
    expect([message, out]).toEqual(['', expect.stringContaining(`Downs (${ADDRESS}) is as the files say.`)]);
    const posts = received.filter((one) => keyOf(one) !== undefined);
    const below = `/api/worlds/${ADDRESS}`;
    expect(posts.map((one) => one.url)).toEqual([
      ...['/api/worlds', '/api/worlds', `${below}/entity-schemas`, `${below}/entity-schemas`],
      ...[`${below}/events`, `${below}/events`],
    ]);
    const keys = posts.map(keyOf);
    expect(keys).toEqual([keys[0], keys[0], keys[2], keys[2], keys[4], keys[4]]);
    expect(new Set(keys).size).toBe(3);
  });

  it('by `demo`', async () => {
    const { url, received } = await startCutting((asked) =>
      answering(asked.startsWith('GET') ? [] : { address: ADDRESS }),
    );
    const { message } = await runCommand(url, 'demo');
    expect(message).toBe('');
    const posts = received.filter(({ method }) => method === 'POST');
    expect(posts).toHaveLength(22);
    expect(posts.filter((one) => one.url.includes('/training/'))).toHaveLength(2);
    expect(new Set(posts.map((one) => `${one.url} ${keyOf(one)}`)).size).toBe(11);
  });
});

const dryRun = { eventVersion: 1, stateChanges: {}, result: 'won', llm: null };
const TRY = ['events', 'try', '--deployment', DEPLOYMENT, '--event', 'win', '--json'];

describe('`events try`', () => {
  it('repeats a try whose answer is lost', async () => {
    const { url, received } = await startScriptedServer(answering(dryRun), breaking, answering(dryRun));
    const { message, out } = await runCommand(url, ...TRY, '--times', '2');
    expect([message, JSON.parse(out).valid]).toEqual(['', 2]);
    const [one, two, again] = received.map(keyOf);
    expect([received.length, two]).toEqual([3, again]);
    expect(one).not.toBe(two);
  });

  /** Nothing listens after it. */
  const last: Step = (reply, request) => {
    const { server } = reply.socket as unknown as { server: Server };
    server.close();
    reply.setHeader('connection', 'close');
    answering(dryRun)(reply, request);
  };
  it.each([
    ['is no more', [answering(dryRun), last], /^No Orrery answers at /],
    ['is another one', [answering(dryRun), answering(dryRun), page(404)], /^The answer is HTTP 404, and/],
  ])('shows the tries that there are where the server %s', async (_, steps, detail) => {
    const { url } = await startScriptedServer(...steps);
    const { message, out } = await runCommand(url, ...TRY, '--times', '100');
    expect(message).toBe('1 of 3 tries gave no valid proposal.');
    const { valid, eventVersion, tries } = JSON.parse(out);
    expect([valid, eventVersion, tries.length]).toEqual([2, 1, 3]);
    expect(tries[2]).toMatchObject({ valid: false, error: { code: 'network_error' } });
    expect(tries[2].error.detail).toMatch(detail);
    expect(tries[2].error.detail).toMatch(/No further try was made\.$/);
  });

  it('has nothing to show where the first one gets no answer', async () => {
    const { url } = await startScriptedServer(page(404));
    const { message, out } = await runCommand(url, ...TRY);
    expect([message, out]).toEqual([expect.stringMatching(/^The answer is HTTP 404/), '']);
  });
});
