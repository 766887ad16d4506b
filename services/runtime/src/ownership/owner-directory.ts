import type { Clock } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import { readOwners } from './lease-store.js';

/** Which process owns a partition, as last read. */
export interface OwnerDirectory {
  /** `undefined`: nobody at the moment, ask again. */
  ownerOf(partition: number): Promise<string | undefined>;
  /** What was read has proved wrong: the next question reads anew. */
  doubt(): void;
}

/** How long an answer is believed when nothing speaks against it, in milliseconds. */
const BELIEVED_MS = 2000;

/** Questions that come together share one read. */
export function createOwnerDirectory(db: Db, clock: Clock): OwnerDirectory {
  let reading: Promise<Map<number, string>> | undefined;
  let owners = new Map<number, string>();
  let readAt = Number.NEGATIVE_INFINITY;

  const read = async () => {
    owners = await readOwners(db);
    readAt = clock.now();
    return owners;
  };
  const fresh = () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    ownerOf: async (partition) => {
      const known = clock.now() - readAt < BELIEVED_MS ? owners.get(partition) : undefined;
      return known ?? (await fresh()).get(partition);
    },
    doubt: () => {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}
