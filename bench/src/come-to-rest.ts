import { setTimeout } from 'node:timers/promises';
import type { System } from '@orrery/testing/system';
import { Client } from 'pg';

const LOOK_EVERY_MS = 50;
const PATIENCE_MS = 60_000;

/**
 * Resolves, with the seconds it took, once a system has published all facts of what it executed: what is still to do
 * after the last answer must not slow the next measurement down. @throws Error after a minute.
 */
export async function comeToRest({ databaseUrl, shape }: System): Promise<number> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const began = performance.now();
  try {
    for (;;) {
      const { rows } = await client.query<{ waits: boolean }>(
        'select exists (select from runtime.outbox) as waits',
      );
      const elapsed = performance.now() - began;
      if (!rows[0]?.waits) return elapsed / 1000;
      if (elapsed > PATIENCE_MS) throw new Error(`${shape}: facts are still waiting after a minute`);
      await setTimeout(LOOK_EVERY_MS);
    }
  } finally {
    await client.end();
  }
}
