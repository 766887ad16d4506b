import { sql } from 'kysely';
import type { Db } from '../tables/schema.js';

/** Ids of one block of `id_blocks`: block n holds those that end with n × this. */
export const IDS_PER_BLOCK = 1000;

export type IdBlocks = ReturnType<typeof createIdBlocks>;

/**
 * Ids for bindings and instances, known before the commit. Each is greater than those before; the unused rest of a
 * process's blocks is lost. `nextBlock` answers a block number that no other process gets, greater than those before.
 */
export function createIdBlocks(nextBlock: () => Promise<number>) {
  let ids: number[] = [];
  let generation = 0;
  let fetching: Promise<void> | undefined;
  let highest = 0;
  const fetchBlock = async () => {
    const before = generation;
    let block = await nextBlock();
    // A database that lost its last commits gives out blocks again that were given out here.
    while (block <= highest) block = await nextBlock();
    highest = block;
    if (before === generation) ids = [...idsOf(block), ...ids];
  };
  const refill = async (count: number): Promise<void> => {
    while (ids.length < count) {
      // One at a time: two answers in the wrong order would put older ids behind newer ones.
      fetching ??= fetchBlock().finally(() => {
        fetching = undefined;
      });
      await fetching;
    }
  };
  return {
    /** Whether this many can be taken at once, without a query. */
    has: (count: number): boolean => ids.length >= count,
    /** @throws Error when there are none left: call `has` first. */
    next: (): number => {
      const id = ids.pop();
      if (id === undefined) throw new Error('no ids are left');
      return id;
    },
    /** Fetches blocks until this many are there; a concurrent `take` may use them up. */
    refill,
    /** Takes this many, and waits for new blocks where needed. */
    take: async (count: number): Promise<number[]> => {
      while (ids.length < count) await refill(count);
      return ids.splice(-count, count).reverse();
    },
    /**
     * Drops the ids up to this one, also those of a block that is being fetched. Called when a clone is read: its copies have
     * ids of blocks of their own, and what it creates must have greater ones.
     */
    goBeyond: (id: number): void => {
      ids = ids.filter((one) => one > id);
      highest = Math.max(highest, Math.ceil(id / IDS_PER_BLOCK));
    },
    /**
     * Drops all ids, also those of a block that is being fetched. Called when a partition is taken over, because ids
     * must stay greater than those of the previous owner.
     */
    discard: (): void => {
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
