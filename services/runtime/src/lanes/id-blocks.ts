import { sql } from 'kysely';
import type { Db } from '../context.js';

/** Ids of one block of `id_blocks`: block n holds those that end with n × this. */
export const IDS_PER_BLOCK = 1000;

/**
 * Ids for bindings and instances, known before the commit. They rise with every one given out; what a process leaves
 * of its blocks is lost.
 */
export interface IdBlocks {
  /** Whether this many can be taken at once, without asking the database. */
  has(count: number): boolean;
  /** @throws Error when there are none left: ask `has` first. */
  next(): number;
  /** Makes it likely that this many are there. */
  refill(count: number): Promise<void>;
  /** Waits for as many as are asked for. */
  take(count: number): Promise<number[]>;
  /** Older ids than those of another owner must not follow: called when a partition is taken over. */
  discard(): void;
}

export function createIdBlocks(db: Db): IdBlocks {
  let ids: number[] = [];
  const refill = async (count: number) => {
    while (ids.length < count) ids = [...(await takeBlock(db)), ...ids];
  };
  return {
    has: (count) => ids.length >= count,
    next: () => {
      const id = ids.pop();
      if (id === undefined) throw new Error('no ids are left');
      return id;
    },
    refill,
    take: async (count) => {
      while (ids.length < count) await refill(count);
      return ids.splice(-count, count).reverse();
    },
    discard: () => {
      ids = [];
    },
  };
}

/** Largest first, since they are taken from the end. */
async function takeBlock(db: Db): Promise<number[]> {
  const { rows } = await sql<{ block: number }>`select nextval('id_blocks') as block`.execute(db);
  const first = (rows[0]?.block ?? 0) * IDS_PER_BLOCK;
  return Array.from({ length: IDS_PER_BLOCK }, (_, index) => first - index);
}
