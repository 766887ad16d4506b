import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections and to servers that ask for any port: none of those takes the
 * port before its server listens, or while its server is replaced.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** Test workers of one run take ports of their own: a port that one has found free is not yet taken by its server. */
const WORKERS = 8;
const SHARE = (HIGHEST - LOWEST) / WORKERS;
const FIRST = LOWEST + (Number(process.env['VITEST_POOL_ID'] ?? 0) % WORKERS) * SHARE;

/** What this process was given: a server may take a while to listen. */
const given = new Set<number>();

/** A port that is free now, for a server that cannot choose one itself, or that returns to its port. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + randomInt(SHARE);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
