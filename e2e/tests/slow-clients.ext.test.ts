import { type System, startAllInOne, startProgram } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { describeWithProgram } from '../src/external/describe-with-program.js';

const CONNECTIONS = 200;
/** Longer than the server waits for a whole request, however busy the machine is. */
const SECONDS = '240';

describeWithProgram('slowhttptest', 'clients that never finish what they send', () => {
  let system: System;
  beforeAll(async () => {
    system = await startAllInOne(undefined, { RATE_LIMITS: 'false' });
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  it.each([
    ['headers', ['-H']],
    ['a body', ['-B', '-t', 'POST', '-s', '8192', '-f', 'application/json']],
  ])('slow %s: every connection is closed, and the others are answered meanwhile', async (_what, mode) => {
    const load = ['-c', String(CONNECTIONS), '-r', '100', '-i', '5', '-x', '24', '-l', SECONDS, '-p', '30'];
    await using attack = startProgram('slowhttptest', [...mode, ...load, '-u', `${system.url}/api/worlds`]);
    const api = apiClient(system.url, system.key);
    const ended = attack.exited.then(() => true);
    const took: number[] = [];
    for (let isOver = false; !isOver; ) {
      const askedAt = performance.now();
      expect((await api.get('/me')).status).toBe(200);
      took.push(performance.now() - askedAt);
      isOver = await Promise.race([ended, pause()]);
    }
    const slowest = took.sort((a, b) => a - b)[Math.floor(took.length * 0.9)] ?? 0;
    process.stdout.write(`nine of ten of ${took.length} answers within ${Math.round(slowest)} ms\n`);
    // It ends before its own time: no connection is left to keep open.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the program colours what it says
    const said = attack.output().replace(/\u001b\[[\d;]*m/g, '');
    expect(said).toContain('No open connections left');
    expect(said).not.toMatch(/service available:\s+NO/);
  });
});

/** The rhythm of asking, no wait for anything. */
const pause = () => new Promise<false>((resolve) => setTimeout(() => resolve(false), 250));
