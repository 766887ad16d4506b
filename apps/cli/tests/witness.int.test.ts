import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { answering, runCommand, type Step, startScriptedServer } from './scripted-server.js';

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
  expect((await witness(1, step)).message).toBe('The server has not answered within 30 seconds.');
});
