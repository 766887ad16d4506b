import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { type ChainLease, fenced, holdLease, LeaseLost } from '../src/store/chains/chain-lease.js';
import type { Db } from '../src/store/tables/schema.js';
import { ownDatabase } from './own-database.js';

async function untilLockIsAwaited(db: Db): Promise<void> {
  await vi.waitFor(
    async () => {
      const { rows } = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        db,
      );
      expect(rows).toHaveLength(1);
    },
    { interval: 10 },
  );
}

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

it('a takeover waits for what the holder of a lease commits, and afterwards that one writes nothing', async () => {
  const db = await ownDatabase(4);
  // It has ended when it begins, as that of a process that was paused.
  const lease = (await holdLease(db, 'local', 'one', 0)) as ChainLease;
  const order: string[] = [];
  const [inside, mayCommit] = [gate(), gate()];
  const writing = fenced(db, lease, async (trx) => {
    await sql`insert into accounts (account_id, revision) values (7, 1)`.execute(trx);
    inside.open();
    await mayCommit.opened;
    order.push('one commits');
  });
  await inside.opened;
  const taking = holdLease(db, 'local', 'two', 600_000).then((taken) => {
    order.push('two takes over');
    return taken;
  });
  await untilLockIsAwaited(db);
  mayCommit.open();
  await writing;
  expect(await taking).toEqual({ chain: 'local', owner: 'two', epoch: lease.epoch + 1 });
  expect(order).toEqual(['one commits', 'two takes over']);
  await expect(fenced(db, lease, async () => undefined)).rejects.toThrow(LeaseLost);
});
