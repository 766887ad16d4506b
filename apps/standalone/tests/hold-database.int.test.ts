import { createLogger, Resources, systemClock } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { withClient } from '@orrery/testing/servers';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { holdDatabase } from '../src/hold-database.js';

const SECOND =
  /^Another Orrery all in one uses the database at .*, and without NATS .* set NATS_URL for both\.$/;
const LOCK = `hashtext('orrery.all-in-one'), 0`;

let databaseUrl: string;
beforeEach(async () => {
  const database = await createTestDatabase();
  databaseUrl = database.url;
  onTestFinished(() => database.drop());
});

/** What a process has that holds the database, or tries to. */
function hold(patienceMs = 120_000) {
  const logged: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'warn',
    destination: { write: (line) => logged.push(line) },
  });
  const resources = new Resources();
  const fail = vi.fn();
  const stopping = new AbortController();
  const context = { clock: systemClock, logger, signal: stopping.signal, resources, fail };
  onTestFinished(() => resources.release());
  const held = holdDatabase(context, { databaseUrl, patienceMs });
  held.catch(() => undefined);
  return { held, fail, resources, logged, stopping };
}

const HOLDERS = `select pid from pg_locks where locktype = 'advisory' and granted
  and database = (select oid from pg_database where datname = current_database())`;
const holders = () =>
  withClient(databaseUrl, async (client) =>
    (await client.query(HOLDERS)).rows.map(({ pid }) => pid as number),
  );

/** Ends the connection that holds the database, as a failover does. */
async function cut(): Promise<number> {
  const [pid = 0] = await holders();
  await withClient(databaseUrl, (client) => client.query('select pg_terminate_backend($1)', [pid]));
  return pid;
}

it('refuses a second process without NATS, which waits for a moment and names the way out', async () => {
  await hold().held;
  await expect(hold(300).held).rejects.toThrow(SECOND);
});

it('serves when all of the process before has ended', async () => {
  const before = hold();
  await before.held;
  before.stopping.abort();
  const next = hold();
  await vi.waitFor(() => expect(next.logged.join()).toContain('waiting for it to end'));
  await before.resources.release();
  await next.held;
  expect(next.fail).not.toHaveBeenCalled();
});

it('holds the database again when its connection was lost, and goes on', async () => {
  const { held, fail } = hold();
  await held;
  const lost = await cut();
  await vi.waitFor(async () => {
    const now = await holders();
    expect(now).toHaveLength(1);
    expect(now).not.toContain(lost);
  });
  expect(fail).not.toHaveBeenCalled();
});

it('ends where another one has taken the database meanwhile, and keeps it', async () => {
  const { held, fail } = hold(300);
  await held;
  await withClient(databaseUrl, async (other) => {
    const taken = other.query(`select pg_advisory_lock(${LOCK})`);
    await cut();
    await taken;
    await vi.waitFor(() => expect(fail).toHaveBeenCalledOnce());
  });
  expect(String(fail.mock.lastCall?.[0].message)).toMatch(SECOND);
});
