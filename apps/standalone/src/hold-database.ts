import { connect, type Database, describeAddress } from '@orrery/database';
import { type ServiceContext, StartupError } from '@orrery/service-kit';

export interface HoldOptions {
  readonly databaseUrl: string;
  /** How long another process may take to end, or the server to notice that our connection was lost, in milliseconds. */
  readonly patienceMs?: number;
}

type Pool = Database<unknown>['pool'];
const open = (pool: Pool) => pool.connect();
type Session = Awaited<ReturnType<typeof open>>;
type Holding = Pick<ServiceContext, 'clock' | 'logger' | 'signal' | 'fail'> &
  Required<HoldOptions> & { readonly pool: Pool };

/** Longer than `GONE_MS` and than a process takes to end. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 250;
/** How often the connection is tried, in milliseconds. */
const BEAT_MS = 5000;
/** Within which the server notices that the other end of a connection is gone without a word, in milliseconds. */
const GONE_MS = 25_000;

/** Of its session, in which nothing else is done. Over a Unix socket they mean nothing. */
const SETTINGS = {
  idle_session_timeout: '0',
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: String(GONE_MS),
};
const LOCK = `select pg_try_advisory_lock(hashtext('orrery.all-in-one'), 0) as held`;

/**
 * Keeps a second all-in-one without NATS off the same database: each would own a part of the deployments, and could not reach
 * what the other one owns. The lock of a session says who serves. A process whose connection is lost, as in a failover, takes
 * the lock again and serves meanwhile; it ends only where another one has it for longer than `patienceMs`.
 *
 * @throws StartupError when another one goes on serving, or the database cannot be used.
 */
export async function holdDatabase(
  context: Pick<ServiceContext, 'clock' | 'logger' | 'signal' | 'fail' | 'resources'>,
  { databaseUrl, patienceMs = PATIENCE_MS }: HoldOptions,
): Promise<void> {
  const { resources, ...rest } = context;
  const database = await connect({ ...rest, ...CONNECTION, url: databaseUrl });
  resources.use('hold of the database', database);
  const holding = { ...rest, databaseUrl, patienceMs, pool: database.pool };
  const first = await claim(holding);
  // Not the signal of the process: others are to wait until everything here has ended.
  const released = new AbortController();
  const kept = keep({ ...holding, signal: released.signal }, first);
  resources.add('session of that hold', () => {
    released.abort();
    return kept;
  });
}

const CONNECTION = { schema: 'public', applicationName: 'orrery all-in-one', maxConnections: 1 };

/** Resolves with the session that has the lock. Waits for another one that ends. */
async function claim(holding: Holding): Promise<Session> {
  const { clock, logger, signal, pool, patienceMs, databaseUrl } = holding;
  const until = clock.monotonic() + patienceMs;
  for (let isFirst = true; ; isFirst = false) {
    const session = await tryLock(pool);
    if (session !== undefined) return session;
    if (isFirst) logger.warn('another all-in-one uses the database: waiting for it to end');
    if (clock.monotonic() >= until) throw heldByAnother(databaseUrl);
    await clock.sleep(PAUSE_MS, signal);
  }
}

async function tryLock(pool: Pool): Promise<Session | undefined> {
  const session = await open(pool);
  try {
    for (const [name, value] of Object.entries(SETTINGS))
      await session.query('select set_config($1, $2, false)', [name, value]);
    const { rows } = await session.query<{ held: boolean }>(LOCK);
    if (rows[0]?.held === true) return session;
    session.release();
    return undefined;
  } catch (error) {
    session.release(true);
    throw error;
  }
}

/** Holds it until the signal aborts. */
async function keep(holding: Holding, first: Session): Promise<void> {
  const { signal, fail } = holding;
  const giveUp = (error: unknown) => {
    fail(error);
    return undefined;
  };
  for (let session: Session | undefined = first; session !== undefined; ) {
    await lost(session, holding);
    session.release(true);
    session = signal.aborted ? undefined : await reclaim(holding).catch(giveUp);
  }
}

/** Resolves when the connection is lost, or the signal aborts. */
async function lost(session: Session, { clock, signal }: Holding): Promise<void> {
  const ended = new AbortController();
  session.once('end', () => ended.abort());
  const either = AbortSignal.any([signal, ended.signal]);
  try {
    for (;;) {
      await clock.sleep(BEAT_MS, either);
      await session.query('select');
    }
  } catch {
    // One of the two.
  }
}

/** For as long as the database is away nothing is wrong with this process. */
async function reclaim(holding: Holding): Promise<Session | undefined> {
  const { clock, signal } = holding;
  while (!signal.aborted) {
    try {
      return await claim(holding);
    } catch (error) {
      if (error instanceof StartupError) throw error;
      await clock.sleep(PAUSE_MS, signal).catch(() => undefined);
    }
  }
  return undefined;
}

function heldByAnother(databaseUrl: string): StartupError {
  return new StartupError(
    `Another Orrery all in one uses the database at ${describeAddress(databaseUrl)}, and without NATS they cannot reach each other: end that one, give this one another database, or set NATS_URL for both.`,
  );
}
