import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { answering, page, refusing, runCommand, type Step, startScriptedServer } from './scripted-server.js';

const ADDRESS = `0x${'a'.repeat(40)}`;
const silent: Step = () => undefined;
/** The beginning of an answer, which goes on no further. */
const dripping: Step = (reply) => void reply.writeHead(200).write('{');

/** A witness that looks once, at a server whose time is over as soon as it has `requests` of it. */
async function witness(requests: number, ...steps: Step[]) {
  const store = await mkdtemp(join(tmpdir(), 'orrery-witness-'));
  onTestFinished(() => rm(store, { recursive: true }));
  const late = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
  onTestFinished(() => timeout.mockRestore());
  const { url, received } = await startScriptedServer(...steps);
  const ended = runCommand(url, 'witness', ADDRESS, '--store', store, '--once');
  await vi.waitFor(() => expect(received).toHaveLength(requests));
  late.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const { notes, message } = await ended;
  expect(timeout.mock.calls.every(([milliseconds]) => milliseconds === 30_000)).toBe(true);
  return { notes, message };
}

it.each([
  ['never answers', silent],
  ['answers without an end', dripping],
])('a witness of a server that %s says so', async (_, step) => {
  const head = answering({ keys: ['key'], checkpoint: 'note' });
  const { notes, message } = await witness(2, head, step);
  expect(notes).toMatch(/\nThe server has not answered within 30 seconds\.$/);
  expect(message).toBe('Nothing could be compared: the server cannot be asked now.');
  const first = await witness(1, step);
  expect(first).toEqual({ notes: 'The server has not answered within 30 seconds.', message });
});

const AWAY = 'The server cannot be asked now: ';
const web = page(200, { 'content-type': 'text/html' });
const gone = refusing(404, 'deployment_not_found', 'It is gone.');

async function watch(deployment: string, url: string, ...more: string[]) {
  const store = await mkdtemp(join(tmpdir(), 'orrery-witness-'));
  onTestFinished(() => rm(store, { recursive: true }));
  const { notes, message } = await runCommand(url, 'witness', deployment, '--store', store, ...more);
  return { notes: notes.split('\n'), message };
}

it('a witness goes on at a page in place of the service, also before its first look', async () => {
  const head = answering({ keys: ['key'], checkpoint: 'note' });
  const { url } = await startScriptedServer(web, head, page(500), refusing(500, 'internal', 'Defect.'), gone);
  const { notes, message } = await watch(ADDRESS, url, '--every', '1s');
  expect(notes).toEqual([
    `${AWAY}The answer is HTTP 200, and it is not from Orrery.`,
    expect.stringContaining('From now on it trusts key'),
    `${AWAY}The answer is HTTP 500, and it is not from Orrery.`,
    `${AWAY}Defect. (500 internal)`,
  ]);
  expect(message).toContain('It is gone. (404 deployment_not_found)');
});

it('a witness of a deployment by its name waits for the server, too', async () => {
  const { url } = await startScriptedServer(web, refusing(500, 'internal', 'Defect.'), gone);
  const { notes, message } = await watch('Downs/Spring', url, '--every', '1s');
  expect(notes).toEqual([
    `${AWAY}The answer is HTTP 200, and it is not from Orrery.`,
    `${AWAY}Defect. (500 internal)`,
  ]);
  expect(message).toContain('It is gone.');
  const nobody = await watch('Downs/Spring', 'http://127.0.0.1:1', '--once');
  expect(nobody.notes[0]).toMatch(/^The server cannot be asked now: No Orrery answers at http:/);
  expect(nobody.message).toBe('Nothing could be compared: the server cannot be asked now.');
});

it('a witness ends where the server signs no checkpoints', async () => {
  const { url, received } = await startScriptedServer(refusing(503, 'signing_unavailable', 'No key.'));
  const { notes, message } = await watch(ADDRESS, url);
  expect([notes, received.length]).toEqual([[''], 1]);
  expect(message).toContain('No key. (503 signing_unavailable)');
});

it.runIf(process.platform === 'linux')('a witness says where it can keep nothing', async () => {
  const { message } = await runCommand('http://127.0.0.1:1', 'witness', ADDRESS, '--store', '/proc/a/b');
  expect(message).toBe('The folder /proc/a/b cannot be made (ENOENT): --store names another folder.');
});
