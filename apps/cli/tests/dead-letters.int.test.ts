import { openChainPusherDatabase } from '@orrery/chain-pusher/operator';
import { createLogger } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { type QueryExecutorProvider, sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createProgram } from '../src/program.js';

const DEPLOYMENT = `0x${'5a'.repeat(20)}`;

async function prepare() {
  const { url: databaseUrl, drop } = await createTestDatabase();
  onTestFinished(() => drop());
  const logger = createLogger({ service: 'test', level: 'silent' });
  const database = await openChainPusherDatabase({ databaseUrl, logger, maxConnections: 1 });
  onTestFinished(() => database.close());
  const run = async (...args: string[]) => {
    const lines: string[] = [];
    const program = createProgram({
      env: { DATABASE_URL: databaseUrl },
      write: (line) => lines.push(line),
      note: () => undefined,
      confirm: async () => false,
    });
    await program.parseAsync(['node', 'orrery', 'dead-letters', ...args]);
    return lines.join('\n');
  };
  const put = (reason: string, seq = 7, db: QueryExecutorProvider = database.db) =>
    sql`
      insert into inbox_parked (consumer, ordering_key, seq, reason, payload)
      values ('chain-pusher', ${DEPLOYMENT}, ${seq}, ${reason}, '{}')`.execute(db);
  /** Does what was asked for, as a chain-pusher does: the row goes, and comes again where that was in vain. */
  const carryOut = (again?: string) =>
    vi.waitFor(() =>
      // At once: the command looks again and again.
      database.db.transaction().execute(async (trx) => {
        const { rows } = await sql<{ resolution: string }>`
          delete from inbox_parked where resolution is not null returning resolution`.execute(trx);
        expect(rows).toHaveLength(1);
        if (again !== undefined) await put(again, 7, trx);
        return rows[0]?.resolution;
      }),
    );
  return { database, run, put, carryOut };
}

it('lists what stops a deployment, and waits until a service has done what is asked for', async () => {
  const { run, put, carryOut } = await prepare();
  expect(await run('list')).toBe('nothing is stopped');
  await put('division by zero');
  expect(await run('list')).toMatch(new RegExp(`${DEPLOYMENT} +7 +chain-pusher .*division by zero`));
  expect(JSON.parse(await run('list', '--json'))).toMatchObject([
    { deployment: DEPLOYMENT, seq: 7, asked: null },
  ]);

  const inVain = run('retry', DEPLOYMENT.toUpperCase().replace('0X', '0x'));
  expect(await carryOut('division by one')).toBe('retry');
  await expect(inVain).rejects.toThrow(`Entry 7 stops ${DEPLOYMENT}: division by one`);
  const skipped = run('skip', DEPLOYMENT);
  expect(await carryOut()).toBe('skip');
  expect(await skipped).toBe(`${DEPLOYMENT} goes on after entry 7`);
});

it('says what it cannot do', async () => {
  const { database, run, put } = await prepare();
  await expect(run('retry', DEPLOYMENT)).rejects.toThrow('No dead letter stops');
  await expect(run('skip', '0x5a')).rejects.toThrow('0x and 40 hex digits');
  await put('tail_lost: the journal has lost entries');
  await sql`insert into lanes (deployment, chain, last_number) values (${DEPLOYMENT}, 'local', 4)`.execute(
    database.db,
  );
  await expect(run('skip', DEPLOYMENT)).rejects.toThrow(`orrery chains adopt --deployment ${DEPLOYMENT}`);
});
