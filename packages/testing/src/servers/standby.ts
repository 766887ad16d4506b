import { execFile } from 'node:child_process';
import { chmod, chown, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@orrery/embedded-postgres';
import { holding } from '@orrery/service-kit';
import { PATIENT } from '../programs/patient-release.js';
import { withClient } from './query.js';
import { temporaryFolder } from './temporary-folder.js';

/** A server that others may follow. */
interface PrimaryPostgres {
  readonly url: string;
  readonly dataDirectory: string;
}

interface StandbyPostgres extends EmbeddedPostgres {
  /** Ends the recovery: from then on the server takes writes. */
  promote(): Promise<void>;
}

/** A primary and its synchronous standby. */
export interface ReplicatedPostgres extends AsyncDisposable {
  readonly primary: EmbeddedPostgres;
  readonly standby: StandbyPostgres;
  /** Names both, the standby first. */
  readonly url: string;
}

/** Starts a primary and a hot standby in a temporary folder. */
export const startReplicatedPostgres = (): Promise<ReplicatedPostgres> =>
  holding(async (resources) => {
    const folder = await temporaryFolder(resources, 'replicated');
    // Started by root, the servers run as another user.
    await chmod(folder, 0o711);
    const dataDirectory = join(folder, 'one');
    const primary = resources.use('primary', await startEmbeddedPostgres({ dataDirectory }));
    const from = { url: primary.url, dataDirectory };
    const standby = resources.use('standby', await startStandby(from, join(folder, 'two')));
    const hosts = [standby, primary].map(({ url }) => socketOf(url)).join(',');
    const url = `postgres://orrery@/orrery?host=${hosts}&target_session_attrs=read-write`;
    return { primary, standby, url };
  }, PATIENT);

/** The folder of a server's socket. */
const socketOf = (url: string): string => new URL(url).searchParams.get('host') ?? '';

const NAME = 'standby';
/** What the copy makes anew, or must not take for its own. */
const LEFT_OUT = ['postmaster.pid', 'postmaster.opts', '.s.PGSQL.5432', '.s.PGSQL.5432.lock'];

/**
 * Starts a hot standby of a running server, in another folder, and has the primary acknowledge a commit only when the
 * standby has it on disk. Resolves when the standby streams.
 */
async function startStandby(primary: PrimaryPostgres, dataDirectory: string): Promise<StandbyPostgres> {
  await copyRunning(primary, dataDirectory);
  const settings = { primary_conninfo: `host=${socketOf(primary.url)} user=orrery application_name=${NAME}` };
  const standby = await startEmbeddedPostgres({ dataDirectory, settings });
  await withClient(primary.url, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '${NAME}'`);
    await client.query('select pg_reload_conf()');
    for (;;) {
      const { rowCount } = await client.query(
        `select from pg_stat_replication where application_name = $1 and sync_state = 'sync'`,
        [NAME],
      );
      if (rowCount === 1) return;
      // The server itself waits.
      await client.query('select pg_sleep(0.02)');
    }
  });
  const promote = () =>
    withClient(standby.url, async (client) => {
      // The new primary follows nobody, and nobody follows it.
      await client.query('select pg_promote()');
      await client.query('alter system reset synchronous_standby_names');
      await client.query('select pg_reload_conf()');
    });
  return Object.assign(standby, { promote });
}

/** PostgreSQL's low-level backup (its manual, 25.3.3), on one machine. The copy keeps owners and modes. */
async function copyRunning({ url, dataDirectory }: PrimaryPostgres, target: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`select pg_backup_start('standby', true)`);
    await promisify(execFile)('cp', ['-a', dataDirectory, target]);
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    await Promise.all(LEFT_OUT.map((name) => rm(join(target, name), { force: true })));
    const { uid, gid } = await stat(target);
    const added = { backup_label: rows[0]?.labelfile ?? '', 'standby.signal': '' };
    for (const [name, text] of Object.entries(added)) {
      await writeFile(join(target, name), text);
      await chown(join(target, name), uid, gid);
    }
  });
}
