import type { EventEmitter } from 'node:events';
import { parseJson } from '@orrery/contracts';
import { isTraced, type Logger } from '@orrery/service-kit';
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import {
  CommitRefused,
  ConnectionLost,
  classifyPostgresError,
  hasStalePlan,
  noteConnectionError,
  noteUnbegun,
  OutcomeUnknown,
  PoolExhausted,
  takesNoWrites,
} from '../errors/postgres-errors.js';
import { readHosts } from './database-hosts.js';
import { createPrimaryLocator } from './primary-locator.js';
import { traceQueries } from './trace-queries.js';

export interface PoolOptions extends PoolLimits {
  readonly url: string;
  /** The service's schema: unqualified names mean its tables. */
  readonly schema: string;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly logger: Logger;
  /** Gets every error that the server answers. */
  readonly onServerError?: (error: unknown) => void;
}

export interface PoolLimits {
  /** Default 10. */
  readonly maxConnections?: number;
  /** A statement or transaction that waits longer for a connection is refused, in milliseconds. Default 5,000. */
  readonly maxWaitMs?: number;
  /** Every statement reads only. One whose connection was lost is tried once more. Default false. */
  readonly readOnly?: boolean;
  /**
   * A prepared statement is planned once, without its parameters. By default the server plans it for each set of parameters
   * for as long as it expects the better plan to be worth that.
   */
  readonly plansOnce?: boolean;
  /** Statements take no parallel workers: one takes one core of the server. */
  readonly oneCore?: boolean;
  /** A statement that takes longer is cancelled, in milliseconds. Default 15,000; 0 means never. */
  readonly statementTimeoutMs?: number;
  /** So is one that waits longer for a lock. Default 5,000; 0 means never. */
  readonly lockTimeoutMs?: number;
  /** A transaction that does nothing for longer is ended by the server. Default 15,000; 0 means never. */
  readonly idleInTransactionTimeoutMs?: number;
}

/** The driver gives up this long after the statement's own timeout, if the server does not cancel the statement. */
const SILENCE_MS = 5000;

/**
 * A plan that was made while a table was small would scan it whole, and a prepared statement keeps its plan until the
 * table is analyzed. Everything that is read here has an index.
 */
const READING = ' -c default_transaction_read_only=on -c enable_seqscan=off';

const ONE_CORE = ' -c max_parallel_workers_per_gather=0';
const PLANS_ONCE = ' -c plan_cache_mode=force_generic_plan';

const boundsOf = ({ statementTimeoutMs, lockTimeoutMs, idleInTransactionTimeoutMs }: PoolLimits) => ({
  statement_timeout: statementTimeoutMs ?? 15_000,
  lock_timeout: lockTimeoutMs ?? 5000,
  idle_in_transaction_session_timeout: idleInTransactionTimeoutMs ?? 15_000,
});

/** After the address's own, so that ours hold. The driver sends no bound of 0: that of the role or the server would hold. */
function sessionSettings(options: PoolOptions, bounds: Readonly<Record<string, number>>): string {
  const { schema, readOnly, plansOnce, oneCore } = options;
  const never = Object.keys(bounds).filter((name) => bounds[name] === 0);
  const own = `${readOnly ? READING : ''}${plansOnce ? PLANS_ONCE : ''}${oneCore ? ONE_CORE : ''}`;
  return `-c search_path=${schema}${own}${never.map((name) => ` -c ${name}=0`).join('')}`;
}

export function openPool(options: PoolOptions): pg.Pool {
  const { schema, applicationName, maxConnections = 10, logger } = options;
  const { hosts, ...address } = readHosts(options.url);
  const bounds = boundsOf(options);
  const server = { connectionString: address.url, application_name: applicationName };
  const pool = new pg.Pool({
    Client: hosts.length > 1 ? clientOfPrimary(hosts, { ...server, options: address.options }) : NotingClient,
    ...server,
    options: `${address.options} ${sessionSettings(options, bounds)}`,
    max: maxConnections,
    ...bounds,
    ...(bounds.statement_timeout > 0 && { query_timeout: bounds.statement_timeout + SILENCE_MS }),
    connectionTimeoutMillis: options.maxWaitMs ?? 5000,
    keepAlive: true,
    types: valueParsers,
  });
  const onLost = (error: Error) => {
    // While the pool ends, a server that stops too may close a connection first.
    if (!pool.ending) logger.warn({ err: error }, 'database connection lost');
  };
  // Without a listener, a connection that dies while in use would end the process.
  pool.on('connect', (client) => {
    client.on('error', onLost);
    if (isTraced()) traceQueries(client, schema);
    if (options.onServerError) messagesOf(client).on('errorMessage', options.onServerError);
  });
  pool.on('error', () => undefined);
  return pool;
}

/** Its socket's errors can be told from those of other sockets, and those of its beginning from those of statements. */
class NotingClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    messagesOf(this).on('error', noteConnectionError);
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<this> | undefined {
    if (callback === undefined) return super.connect().then(() => this, throwUnbegun);
    super.connect((error?: Error) => {
      if (error) noteUnbegun(error);
      // The driver calls it without one, too.
      callback(error as Error);
    });
    return undefined;
  }
}

function throwUnbegun(error: Error): never {
  noteUnbegun(error);
  throw error;
}

/** Connects to the one of several servers that takes writes at the time. */
function clientOfPrimary(...[hosts, server]: Parameters<typeof createPrimaryLocator>) {
  const locator = createPrimaryLocator(hosts, server);
  return class PrimaryClient extends NotingClient {
    constructor(config?: pg.ClientConfig) {
      super(config);
      messagesOf(this).on('error', locator.forget);
      messagesOf(this).on('errorMessage', ({ code }: { code?: string }) => {
        if (isServerEnding(code) || takesNoWrites({ code })) locator.forget();
      });
    }

    override connect(): Promise<this>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<this> | undefined {
      const connected = this.#connect();
      if (callback === undefined) return connected;
      connected.then(() => (callback as () => void)(), callback);
      return undefined;
    }

    async #connect(): Promise<this> {
      try {
        const { host, port } = await locator.locate();
        Object.assign(this, { host, port });
        await super.connect();
        return this;
      } catch (error) {
        locator.forget();
        return throwUnbegun(error as Error);
      }
    }
  };
}

/** 57P01 to 57P03: the server shuts down, has crashed, or starts (PostgreSQL manual, appendix A). */
const isServerEnding = (code = ''): boolean => code.startsWith('57P0');

/** The driver's own events: they cover every way in which a statement is sent. */
const messagesOf = (client: pg.ClientBase): EventEmitter =>
  (client as unknown as { connection: EventEmitter }).connection;

const { builtins, getTypeParser } = pg.types;

/**
 * How column values arrive: `bigint` as number (a value above 2^53−1 is an error, never rounded),
 * `timestamptz` as Date, `jsonb` parsed, `numeric` as text.
 */
const valueParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    OWN_PARSERS.get(oid) ?? getTypeParser(oid, format)) as typeof getTypeParser,
};

const OWN_PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<
  number,
  (text: string) => unknown
>([
  [builtins.INT8, safeInteger],
  [builtins.JSON, parseJson],
  [builtins.JSONB, parseJson],
]);

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`the bigint ${text} is not a safe integer`);
  return value;
}

/**
 * The pool as Kysely sees it. A COMMIT that PostgreSQL turns into a ROLLBACK is an error. A lost connection is
 * `ConnectionLost` if nothing was applied and `OutcomeUnknown` if something may have been. A connection that failed
 * is not used again. Where no connection becomes free in time, the error is `PoolExhausted`.
 */
export function guardedPool(pool: pg.Pool, { readOnly }: Pick<PoolLimits, 'readOnly'> = {}): PostgresPool {
  const connect = () => connectInTime(pool);
  return {
    connect: async () =>
      readOnly ? readingClient(await connect(), connect) : guardedClient(await connect()),
    end: () => pool.end(),
    options: pool.options,
  };
}

async function connectInTime(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    // The driver's text for a wait in its queue; a server that does not answer has another one.
    if (!/^timeout exceeded when trying to connect/.test((error as Error).message)) throw error;
    throw new PoolExhausted('no connection became free in time', { cause: error });
  }
}

/** Lifts the bound of statements until the transaction ends: the driver waits for as long as the server does. */
export const ANY_TIME = `select set_config('statement_timeout', '0', true)`;
/** And the bound of their waits for locks. */
export const UNBOUNDED = `${ANY_TIME}, set_config('lock_timeout', '0', true)`;
/** The longest that a timer takes: 24 days. */
const UNBOUNDED_MS = 2 ** 31 - 1;
const unbounded = (statement: ReturnType<typeof queryOf>) => ({ ...statement, query_timeout: UNBOUNDED_MS });

function guardedClient(client: pg.PoolClient, readOnly = false): PostgresPoolClient {
  let lost = false;
  /** Another session may be at another server, or under another default, or has parsed its statements anew. */
  let isOver = false;
  let inTransaction = false;
  let isUnbounded = false;
  const query = async (text: string, values: readonly unknown[]): Promise<PostgresQueryResult<unknown>> => {
    // The server has rolled back by itself, and the caller gets the first error.
    if (text === 'rollback' && lost) return { command: 'ROLLBACK' as const, rowCount: 0, rows: [] } as never;
    if (/^(begin|start transaction)/.test(text)) inTransaction = true;
    if (text === UNBOUNDED || text === ANY_TIME) isUnbounded = true;
    try {
      const statement = queryOf(text, values);
      const result = await client.query(isUnbounded ? unbounded(statement) : statement);
      if (text === 'commit' && result.command === 'ROLLBACK')
        throw new CommitRefused('a statement of this transaction had failed');
      if (text === 'commit' || text === 'rollback') inTransaction = isUnbounded = false;
      return result as never;
    } catch (error) {
      if ((!readOnly && takesNoWrites(error)) || hasStalePlan(error)) isOver = true;
      if (classifyPostgresError(error).kind !== 'unknown_outcome') throw error;
      lost = true;
      const harmless = readOnly || (inTransaction && text !== 'commit');
      throw harmless
        ? new ConnectionLost('the connection was lost; nothing was applied', { cause: error })
        : new OutcomeUnknown('the connection was lost before the outcome was known', { cause: error });
    }
  };
  // Kysely calls the cursor form of `query` only when it was given a cursor class, which it is not.
  return { query: query as PostgresPoolClient['query'], release: () => client.release(lost || isOver) };
}

/** The first statement on a connection is tried on another one when this one turns out to be lost. */
function readingClient(first: pg.PoolClient, connect: () => Promise<pg.PoolClient>): PostgresPoolClient {
  let client = guardedClient(first, true);
  let isFresh = true;
  const query = async (text: string, values: readonly unknown[]): Promise<PostgresQueryResult<unknown>> => {
    const mayRepeat = isFresh;
    isFresh = false;
    try {
      return await client.query(text, values);
    } catch (error) {
      if (!(mayRepeat && error instanceof ConnectionLost)) throw error;
      const other = await connect();
      client.release();
      client = guardedClient(other, true);
      return client.query(text, values);
    }
  };
  return { query: query as PostgresPoolClient['query'], release: () => client.release() };
}

/** The names of prepared statements, by text. */
const names = new Map<string, string>();

export type PreparedStatement<Row> = (
  // Runs on any connection of the schema, in a transaction or outside.
  db: { executeQuery<R>(query: CompiledQuery<R>): Promise<{ rows: R[] }> },
  values: readonly unknown[],
) => Promise<Row[]>;

/**
 * A statement that each connection parses once and, after a few executions, plans once. Its plan has to be right for
 * all values: use it for look-ups by key. It names the columns that it reads: where `*` has come to mean others, because a
 * newer release has added one, PostgreSQL refuses a statement that was parsed before. `name` is unique in the program.
 */
export function prepared<Row>(name: string, text: string): PreparedStatement<Row> {
  names.set(text, name);
  return async (db, values) =>
    (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]) as CompiledQuery<Row>)).rows;
}

/** What the driver is given for a statement: with its name, if it is a prepared one. */
export function queryOf(text: string, values: readonly unknown[]) {
  const name = names.get(text);
  return { text, values: [...values], ...(name !== undefined && { name }) };
}
