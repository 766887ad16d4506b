import { type Clock, type Logger, type Resources, startPollLoop } from '@orrery/service-kit';
import { type Kysely, sql } from 'kysely';
import type { GatewaySchema } from '../database/schema.js';

/** When keys were used last, collected in memory and written every ten seconds: no request waits for it. */
export interface LastUses {
  note(keyId: string, at: number): void;
  /** Writes what has come since the last time; what could not be written is kept. */
  flush(): Promise<void>;
}

/** Beyond this many keys between two writes, new ones are not noted. */
const MAX_NOTED = 100_000;

export function createLastUses(record: (uses: ReadonlyMap<string, number>) => Promise<void>): LastUses {
  let noted = new Map<string, number>();
  const note = (keyId: string, at: number) => {
    if (noted.size < MAX_NOTED || noted.has(keyId)) noted.set(keyId, at);
  };
  return {
    note,
    flush: async () => {
      if (noted.size === 0) return;
      const batch = noted;
      noted = new Map();
      await record(batch).catch((error: unknown) => {
        for (const [keyId, at] of batch) if (!noted.has(keyId)) note(keyId, at);
        throw error;
      });
    },
  };
}

const WRITE_MS = 10_000;

export interface LastUsesContext {
  db: Kysely<GatewaySchema>;
  clock: Clock;
  logger: Logger;
  resources: Resources;
}

/** Writes last uses every ten seconds, and once more when the resources end. */
export function startLastUses({ db, clock, logger, resources }: LastUsesContext): LastUses {
  const name = 'last uses of keys';
  const uses = createLastUses((batch) => recordUses(db, batch));
  resources.add(name, () => uses.flush());
  const runOnce = async () => {
    await uses.flush();
    return 'idle' as const;
  };
  const writing = startPollLoop({ name, intervalMs: WRITE_MS, runOnce, clock, logger });
  resources.add(name, () => writing.stop());
  return uses;
}

/** One statement for all keys; an older time never replaces a newer one. */
async function recordUses(db: Kysely<GatewaySchema>, uses: ReadonlyMap<string, number>): Promise<void> {
  const ids = [...uses.keys()];
  const times = [...uses.values()].map((ms) => new Date(ms).toISOString());
  await sql`
    update keys set last_used_at = greatest(keys.last_used_at, used.at)
    from unnest(${ids}::text[], ${times}::timestamptz[]) as used (id, at)
    where keys.id = used.id`.execute(db);
}
