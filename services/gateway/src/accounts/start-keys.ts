import type { Bus } from '@orrery/bus';
import { keysRevoked } from '@orrery/contracts';
import { toServiceError } from '@orrery/database';
import { type Clock, type Logger, type Resources, startPollLoop } from '@orrery/service-kit';
import type { Kysely } from 'kysely';
import type { GatewaySchema } from '../database/schema.js';
import { loadUsableKeys, recordUses } from './key-store.js';
import { createKeyVerifier, type KeyVerifier } from './key-verifier.js';
import { createLastUses } from './last-uses.js';

/** Well within the second that a check holds, so that keys in use never grow stale. */
const REFRESH_MS = 400;
const LAST_USE_MS = 10_000;

export interface KeysContext {
  db: Kysely<GatewaySchema>;
  bus: Pick<Bus, 'listen'>;
  clock: Clock;
  logger: Logger;
  resources: Resources;
}

/** Starts verification with what keeps it fresh and what records uses; it all ends with the resources. */
export async function startKeys({ db, bus, clock, logger, resources }: KeysContext): Promise<KeyVerifier> {
  const lastUses = createLastUses((uses) => recordUses(db, uses));
  resources.add('last uses of keys', () => lastUses.flush());
  const keys = createKeyVerifier({
    clock,
    onUse: lastUses.note,
    loadUsable: (keyIds) =>
      loadUsableKeys(db, keyIds).catch((error: unknown) => Promise.reject(toServiceError(error))),
  });

  const loop = (name: string, intervalMs: number, work: () => Promise<void>) => {
    const runOnce = async () => {
      await work();
      return 'idle' as const;
    };
    const running = startPollLoop({ name, intervalMs, runOnce, clock, logger });
    resources.add(name, () => running.stop());
  };
  loop('key refresh', REFRESH_MS, keys.refresh);
  loop('last uses of keys', LAST_USE_MS, lastUses.flush);

  const listening = new AbortController();
  resources.add('key revocations', () => listening.abort());
  await bus.listen(keysRevoked, ({ keyIds }) => keys.forget(keyIds), listening.signal);
  return keys;
}
