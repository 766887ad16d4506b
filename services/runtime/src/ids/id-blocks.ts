import { sql } from 'kysely';
import type { Db } from '../database/db.js';

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
  /**
   * Older ids than those of another owner must not follow: called when a partition is taken over. Drops also the block
   * that was asked for before.
   */
  discard(): void;
}

/** `nextBlock` numbers a block that nobody else gets; each number is greater than those before. */
export function createIdBlocks(nextBlock: () => Promise<number>): IdBlocks {
  let ids: number[] = [];
  let generation = 0;
  let asking: Promise<void> | undefined;
  const ask = async () => {
    const asked = generation;
    const block = idsOf(await nextBlock());
    if (asked === generation) ids = [...block, ...ids];
  };
  const refill = async (count: number) => {
    while (ids.length < count) {
      // One at a time: answers that overtake each other would put older ids behind newer ones.
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      await asking;
    }
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
      generation += 1;
    },
  };
}

/** Largest first, since they are taken from the end. */
function idsOf(block: number): number[] {
  const first = block * IDS_PER_BLOCK;
  return Array.from({ length: IDS_PER_BLOCK }, (_, index) => first - index);
}

/** The next block of the sequence that all processes share. */
export async function nextIdBlock(db: Db): Promise<number> {
  const { rows } = await sql<{ block: number }>`select nextval('id_blocks') as block`.execute(db);
  return rows[0]?.block ?? 0;
}
