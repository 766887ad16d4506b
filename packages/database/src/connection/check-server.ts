import { type Clock, FIRST_CONTACT, type Logger, retry, StartupError } from '@orrery/service-kit';
import pg from 'pg';
import { describeAddress } from './database-hosts.js';
import { NoPrimary } from './primary-locator.js';

/** Debian 12's server, and the oldest that the SQL here is written for. */
const OLDEST_MAJOR = 15;

/** Configuration errors, by SQLSTATE: a retry cannot help. */
const ADVICE: Readonly<Record<string, string>> = {
  '28P01': 'refuses the password: correct the user and password in DATABASE_URL.',
  '28000': 'refuses the user: correct the user in DATABASE_URL or allow it in pg_hba.conf.',
  '3D000': 'has no such database: create it or correct its name in DATABASE_URL.',
};

/** What may pass, by SQLSTATE, and is tried again: the server answers, so it need not be started. */
const PASSING: Readonly<Record<string, readonly [string, string]>> = {
  '25006': ['takes no writes', 'connect to its primary or end what makes it read-only.'],
  '53300': [
    'has no connection left',
    'raise its max_connections or the limit of the user, or run fewer processes.',
  ],
};

export interface CheckServerOptions {
  readonly pool: pg.Pool;
  readonly url: string;
  readonly urlVariable?: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal?: AbortSignal;
}

/** Waits up to a few seconds for a usable server. @throws StartupError when there is none. */
export async function checkServer({
  pool,
  url,
  urlVariable = 'DATABASE_URL',
  clock,
  logger,
  signal,
}: CheckServerOptions): Promise<void> {
  const address = describeAddress(url);
  const onRetry = (error: unknown, attempt: number) =>
    logger.info(
      { address, attempt, reason: (error as Error).message },
      'PostgreSQL does not answer yet; retrying',
    );
  const policy = { ...FIRST_CONTACT, retryable: (error: unknown) => adviceFor(error) === undefined };
  const version = await retry(() => serverVersion(pool), policy, {
    clock,
    onRetry,
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    const advice =
      adviceFor(error) ??
      passingAdvice(error) ??
      `cannot be reached (${reasonOf(error)}): start it or correct DATABASE_URL.`;
    const sentence = `PostgreSQL at ${address} ${advice}`.replaceAll('DATABASE_URL', urlVariable);
    throw new StartupError(sentence, { cause: error });
  });
  if (version.major >= OLDEST_MAJOR) return;
  throw new StartupError(
    `PostgreSQL at ${address} is version ${version.text}: Orrery needs ${OLDEST_MAJOR} or newer, upgrade it or set ${urlVariable} to another server.`,
  );
}

async function serverVersion(pool: pg.Pool): Promise<{ major: number; text: string }> {
  const { rows } = await pool.query<{ number: string; text: string }>(
    `select current_setting('server_version_num') as number, current_setting('server_version') as text`,
  );
  return { major: Math.floor(Number(rows[0]?.number) / 10_000), text: rows[0]?.text ?? 'unknown' };
}

const adviceFor = (error: unknown) => ADVICE[String((error as { code?: unknown }).code)];

/** Completes the sentence "PostgreSQL …" where the server answers and refuses for now; `undefined` for other errors. */
export function passingAdvice(error: unknown): string | undefined {
  const [what, advice] = PASSING[String((error as { code?: unknown }).code)] ?? [];
  return what && `${what} (${reasonOf(error)}): ${advice}`;
}

/** What a server says, else the code (`ECONNREFUSED`) where there is one; no message contains the password. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  if (error instanceof NoPrimary || error instanceof pg.DatabaseError) return error.message;
  return code ?? message ?? 'no answer';
}
