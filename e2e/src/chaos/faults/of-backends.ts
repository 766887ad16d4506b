import { fillDisk, withClient } from '@orrery/testing/servers';
import type { BackendName } from '../house/backends.js';
import type { Fault } from './of-processes.js';

const killed = (backend: BackendName, wiped: boolean): Fault => ({
  targets: [backend],
  longestMs: 4000,
  inflict: async ({ backends }) => {
    await backends.kill(backend);
    return () => backends.restart(backend, { wiped });
  },
});

export const ofBackends = {
  'killed and started again': { ...killed('database', false) },
  'NATS started again': killed('nats', false),
  'NATS lost its data': killed('nats', true),
  'Redis lost its data': killed('redis', true),
  'read-only': {
    targets: ['database'],
    longestMs: 5000,
    inflict: async ({ backends: { databaseUrl } }) => {
      await setReadOnly(databaseUrl, 'on');
      return () => setReadOnly(databaseUrl, 'off');
    },
  },
  'disk full': {
    targets: ['runtime.journal', 'runtime.runs', 'scheduler.occurrences', 'chain_pusher.pushes'].map(
      (table) => `database ${table}`,
    ),
    longestMs: 5000,
    inflict: async ({ backends: { databaseUrl } }, target) => {
      const disk = await fillDisk(databaseUrl, target.split(' ')[1] ?? '');
      return () => disk.release();
    },
  },
} satisfies Record<string, Fault>;

/** As after a failover to a standby, or as an operator sets it: 25006 for every change, also in open sessions. */
const setReadOnly = (url: string, value: 'on' | 'off'): Promise<void> =>
  withClient(url, async (client) => {
    await client.query('set default_transaction_read_only = off');
    await client.query(`alter system set default_transaction_read_only = ${value}`);
    await client.query('select pg_reload_conf()');
  });
