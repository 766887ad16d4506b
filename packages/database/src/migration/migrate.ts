import { FIRST_CONTACT, type Logger, retry, StartupError, systemClock } from '@orrery/service-kit';
import { Kysely, PostgresDialect, type PostgresPool, sql } from 'kysely';
import { type Migration, type MigrationResult, Migrator } from 'kysely/migration';
import type pg from 'pg';
import { passingAdvice } from '../connection/check-server.js';
import type { Connections } from '../connection/connect.js';
import type { PoolLimits } from '../connection/pool.js';
import { classifyPostgresError, isDatabaseError } from '../errors/postgres-errors.js';
import { holderOf, isLockedOut, LOCK_WAIT_MS, whenFree } from '../transaction/when-free.js';

export type { Migration } from 'kysely';

/** By name; names sort in the order of execution (`0001_worlds`) and are never changed once released. */
export type Migrations = Readonly<Record<string, Migration>>;

/** A migration that runs these statements, which end with semicolons, in one go. */
export const statements = (text: string): Migration => ({
  up: async (db) => void (await sql.raw(text).execute(db)),
});

export interface MigrateOptions {
  readonly database: {
    readonly schema: string;
    beside(limits: PoolLimits): Pick<Connections<unknown>, 'pool' | 'close'>;
  };
  readonly migrations: Migrations;
  readonly logger: Logger;
  /** How often it tries to get the locks that it needs. Default: for four minutes. */
  readonly lockTries?: number;
}

const TABLE = 'migration';
const LOCK_TABLE = 'migration_lock';
/** With the pauses between them: four minutes. */
const LOCK_TRIES = 300;
/** A server that has answered a moment ago may be busy for this long, in milliseconds. */
const CONNECT_MS = 30_000;

/**
 * Brings a service's schema to the state that this build knows. Any number of replicas may call it at once: one
 * migrates, the others wait. All pending migrations run in one transaction, which begins anew where another one holds a table,
 * so that calls do not wait behind it. Where the connection is lost, it is tried again for a few seconds.
 *
 * @throws StartupError naming the migration that failed (everything is rolled back), or the migration of a newer build
 *   that the database already has; or that the server cannot be used, or that another transaction holds tables.
 */
export function migrate(options: MigrateOptions): Promise<void> {
  const { database, logger } = options;
  const { schema } = database;
  const onRetry = (error: unknown, attempt: number) =>
    logger.info(
      { schema, attempt, reason: reasonOf(error) },
      'the connection was lost during a migration; retrying',
    );
  const policy = { ...FIRST_CONTACT, retryable: isConnectionTrouble };
  return retry(() => migrateOnce(options), policy, { clock: systemClock, onRetry }).catch(
    (error: unknown) => {
      if (!isDatabaseError(error) && !isConnectionTrouble(error)) throw error;
      throw new StartupError(adviceOf(schema, error), { cause: error });
    },
  );
}

/** What to do where the server cannot be used; where a migration itself fails, `migrationFailure` says so. */
function adviceOf(schema: string, error: unknown): string {
  const passing = passingAdvice(error);
  if (passing !== undefined) return `The schema ${schema} was not migrated: PostgreSQL ${passing}`;
  const reason = reasonOf(error);
  return isConnectionTrouble(error)
    ? `The connection to PostgreSQL was lost while the schema ${schema} was migrated (${reason}): nothing is half done, see that the server runs and start again.`
    : `The schema ${schema} cannot be migrated, since PostgreSQL refuses it (${reason}): allow it to the user of the address and start again.`;
}

const CONNECTION: ReadonlySet<string> = new Set(['unavailable', 'unknown_outcome']);

/** The server is away, restarts or lost the connection: neither the schema nor this build is at fault. */
const isConnectionTrouble = (error: unknown): boolean =>
  !(error instanceof StartupError) && CONNECTION.has(classifyPostgresError(error).kind);

/** The first line of what the driver says, or its code. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return message?.split('\n')[0] || code || 'no answer';
}

async function migrateOnce(options: MigrateOptions): Promise<void> {
  const { database } = options;
  const limits = {
    maxConnections: 1,
    maxWaitMs: CONNECT_MS,
    statementTimeoutMs: 0,
    lockTimeoutMs: 0,
    idleInTransactionTimeoutMs: 0,
  };
  const { pool, close } = database.beside(limits);
  try {
    // One session for all of it: another one, after a loss, would have neither its lock nor the bound of its waits.
    const session = await pool.connect();
    await migrateOn(session, options).finally(() => session.release(true));
  } finally {
    await close();
  }
}

async function migrateOn(session: pg.PoolClient, options: MigrateOptions): Promise<void> {
  const { database, migrations } = options;
  // It also covers CREATE SCHEMA, which is not safe to run twice at once.
  await session.query(`select pg_advisory_lock(hashtext('orrery.migrate'), hashtext($1))`, [database.schema]);
  await session.query(`create schema if not exists "${database.schema}"`);
  await refuseNewerSchema(session, database.schema, migrations);
  await migrateWhenFree(session, options);
}

async function refuseNewerSchema(
  session: pg.PoolClient,
  schema: string,
  migrations: Migrations,
): Promise<void> {
  const { rows } = await session.query(`select to_regclass($1) is not null as exists`, [
    `"${schema}"."${TABLE}"`,
  ]);
  if (!rows[0]?.exists) return;
  const done = await session.query<{ name: string }>(`select name from "${schema}"."${TABLE}" order by name`);
  const unknown = done.rows.find(({ name }) => !Object.hasOwn(migrations, name));
  if (unknown === undefined) return;
  throw new StartupError(
    `The schema ${schema} of the database was migrated by a newer build (migration ${unknown.name}): start that build, or one that is newer.`,
  );
}

/** Kysely on a single session, which stays with who has it. */
function onSession(session: pg.PoolClient): Kysely<unknown> {
  const client = { query: session.query.bind(session), release: () => undefined };
  const pool = { connect: async () => client, end: async () => undefined, options: {} } as PostgresPool;
  return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
}

async function migrateWhenFree(session: pg.PoolClient, options: MigrateOptions): Promise<void> {
  const { database, logger, lockTries = LOCK_TRIES } = options;
  const { schema } = database;
  const db = onSession(session);
  const onHeld = (failed: number) => {
    if (failed === 1) logger.info({ schema }, 'a migration waits for tables that others hold');
  };
  // Of the session, since the migrator makes the transactions.
  await session.query(`set lock_timeout = ${LOCK_WAIT_MS}`);
  const trying = { clock: systemClock, attempts: lockTries, onHeld };
  await whenFree(db, { schema }, () => migrateToLatest(db, options), trying).catch(async (error: unknown) => {
    if (!isLockedOut(error)) throw error;
    const holder = (await holderOf(db, { schema })) ?? 'it has just ended';
    throw new StartupError(
      `The schema ${schema} cannot be migrated now: a long transaction, such as a backup, holds tables (${holder}). Nothing is half done: start again when it has ended.`,
      { cause: error },
    );
  });
}

async function migrateToLatest(
  db: Kysely<unknown>,
  { database: { schema }, migrations, logger }: MigrateOptions,
): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableSchema: schema,
    migrationTableName: TABLE,
    migrationLockTableName: LOCK_TABLE,
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (isConnectionTrouble(error) || isLockedOut(error)) throw error;
  if (error !== undefined) throw migrationFailure(schema, results, error);
  const names = results.map(({ migrationName }) => migrationName);
  if (names.length > 0) logger.info({ schema, migrations: names }, 'migrated');
}

function migrationFailure(schema: string, results: readonly MigrationResult[], error: unknown): StartupError {
  const failed = results.find(({ status }) => status === 'Error');
  const what =
    failed === undefined
      ? `The schema ${schema} cannot be migrated`
      : `The migration ${failed.migrationName} of schema ${schema} failed`;
  return new StartupError(
    `${what} and was rolled back (${reasonOf(error)}): report it and start the build that ran before.`,
    { cause: error },
  );
}
