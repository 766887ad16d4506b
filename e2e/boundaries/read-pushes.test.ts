import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const program = join(import.meta.dirname, '../../docs/read-pushes.mjs');
const address = `0x${'5a'.repeat(20)}`;
const ORRERY_KEY = 'orrery_secret';

/** A server that must not be asked. */
async function startCounting() {
  const asked: string[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(String(url));
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function outcomeOf(args: string[], env: Record<string, string>) {
  const running = promisify(execFile)(process.execPath, [program, ...args], { env });
  const { code, stderr } = (await running.catch((error: unknown) => error)) as {
    code: number;
    stderr: string;
  };
  return { code, stderr };
}

it('the program that reads pushes refuses wrong arguments before it asks anyone, and tells no key', async () => {
  const { asked, url } = await startCounting();
  const right = [url, address, url, address, address];
  const wrong: readonly [string[], Record<string, string>, string][] = [
    // As when a name was ambiguous, and its addresses are left out: the key would stand in the URL.
    [[url, address, url, ORRERY_KEY], { ORRERY_KEY }, 'fourth argument'],
    [[url, address, url, address], { ORRERY_KEY }, 'fifth argument'],
    [['', ...right.slice(1)], { ORRERY_KEY }, 'first argument'],
    [[url, 'x', ...right.slice(2)], { ORRERY_KEY }, 'second argument'],
    [[url, address, 'x', ...right.slice(3)], { ORRERY_KEY }, 'third argument'],
    [[...right, ORRERY_KEY], { ORRERY_KEY }, 'last argument'],
    [[...right, 'local', 'more'], { ORRERY_KEY }, 'too many'],
    [right, {}, 'Set ORRERY_KEY'],
  ];
  for (const [args, env, what] of wrong) {
    const { code, stderr } = await outcomeOf(args, env);
    expect(code).toBe(2);
    expect(stderr).toContain(what);
    expect(stderr).not.toContain(ORRERY_KEY);
  }
  expect(asked).toEqual([]);
});
