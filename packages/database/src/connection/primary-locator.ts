import pg from 'pg';
import type { DatabaseHost } from './database-hosts.js';

/** Finds, of several servers, the one that takes writes: it is not in recovery. */
export interface PrimaryLocator {
  /** The server that was found last. @throws Error when none answers as a primary, with what each said */
  locate(): Promise<DatabaseHost>;
  /** A connection to it failed: the next call looks again. */
  forget(): void;
}

/** For one server's answer, in milliseconds. One that does not answer must not delay the others. */
const PATIENCE_MS = 2000;

export function createPrimaryLocator(
  hosts: readonly DatabaseHost[],
  config: Pick<pg.ClientConfig, 'connectionString' | 'application_name' | 'options'>,
): PrimaryLocator {
  let found: Promise<DatabaseHost> | undefined;
  const ask = async (place: DatabaseHost): Promise<DatabaseHost> => {
    const client = new pg.Client({
      ...config,
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: PATIENCE_MS,
    });
    Object.assign(client, { host: place.host, port: place.port });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
      if (rows[0]?.standby !== false) throw new Error('it is a standby');
      return place;
    } catch (error) {
      throw new Error(`${place.host}:${place.port}: ${(error as Error).message}`, { cause: error });
    } finally {
      // Its end may wait for a server that is stopped.
      void client.end().catch(() => undefined);
    }
  };
  const search = () =>
    Promise.any(hosts.map(ask)).catch((error: AggregateError) => {
      found = undefined;
      throw new NoPrimary(error.errors);
    });
  return {
    locate: () => {
      found ??= search();
      return found;
    },
    forget: () => {
      found = undefined;
    },
  };
}

/** Nothing was applied, and it may work soon; where all servers refuse it for one reason, it has the code of that. */
export class NoPrimary extends Error {
  override readonly name = 'NoPrimary';
  readonly code: string;

  constructor(errors: readonly Error[]) {
    super(`no server takes writes (${errors.map(({ message }) => message).join('; ')})`);
    const codes = new Set(errors.map(({ cause }) => (cause as { code?: string }).code));
    const [code] = codes.size === 1 ? codes : [];
    this.code = code ?? 'ECONNREFUSED';
  }
}
