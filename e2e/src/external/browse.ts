import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { listen } from '@orrery/testing/servers';
import { startProgram } from './start-program.js';

export interface BrowseOptions {
  /** HTML before the script; it may be a whole page. */
  readonly page?: string;
  /** Answers to what the page posts to its own origin, as JSON, by path. */
  readonly answers?: Readonly<Record<string, (body: Buffer) => unknown>>;
}

/**
 * Runs a script in a page of an origin of its own, in headless Chromium, and gives what it returns. The page posts it back
 * to its own origin, so nothing but the script crosses origins.
 */
export async function browse(
  script: string,
  deadlineMs: number,
  { page: before = '', answers = {} }: BrowseOptions = {},
): Promise<unknown> {
  const server = createServer();
  const page = `${before}<script type="module">
    const told = await (async () => {${script}})().catch((error) => ({ failed: String(error) }));
    await fetch('/told', { method: 'POST', body: JSON.stringify(told) });
  </script>`;
  const told = new Promise<unknown>((resolve) => {
    server.on('request', async (request, reply) => {
      if (request.method !== 'POST') return void reply.setHeader('content-type', 'text/html').end(page);
      const body = await buffer(request);
      const answer = answers[request.url ?? ''];
      if (answer !== undefined) return void reply.end(JSON.stringify(await answer(body)));
      reply.end();
      resolve(JSON.parse(body.toString()));
    });
  });
  await using listening = await listen(server);
  const profile = await mkdtemp(join(tmpdir(), 'orrery-browser-'));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
  const browser = startProgram('chromium', [
    ...flags,
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
    `${listening.url}/`,
  ]);
  const tooLate = AbortSignal.timeout(deadlineMs);
  const late = once(tooLate, 'abort').then(() => Promise.reject(new Error(`no word:\n${browser.output()}`)));
  const ended = browser.exited.then(() => Promise.reject(new Error(`it ended:\n${browser.output()}`)));
  try {
    return await Promise.race([told, late, ended]);
  } finally {
    late.catch(() => undefined);
    ended.catch(() => undefined);
    await browser[Symbol.asyncDispose]();
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
