import { migrations as catalog } from '@orrery/catalog/migrations';
import { migrations as chainPusher } from '@orrery/chain-pusher/migrations';
import { connect, type Migrations, migrate } from '@orrery/database';
import { migrations as gateway } from '@orrery/gateway/migrations';
import { migrations as runtime } from '@orrery/runtime/migrations';
import {
  acceptDisagreements,
  finishUpgrade,
  openDirectory,
  openRuntimeDatabase,
} from '@orrery/runtime/operator';
import { migrations as scheduler } from '@orrery/scheduler/migrations';
import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import type { CommandContext } from '../terminal/context.js';
import { formatRows } from '../terminal/format-rows.js';
import { directoryOf, openHome } from './open-home.js';
import { partitionsElsewhere } from './partitions-elsewhere.js';
import { asAdvice } from './passing-failures.js';
import { commandLogger, databaseIn, withDatabase } from './with-database.js';

/** The schema of each service, and what brings it up to date. */
const SCHEMAS: Readonly<Record<string, Migrations>> = {
  gateway,
  catalog,
  runtime,
  scheduler,
  chain_pusher: chainPusher,
};

/** `orrery database migrate`, for installations that migrate before the services start, and what ends an upgrade. */
export function addDatabaseCommands(program: Command, context: CommandContext): void {
  const database = program.command('database').description('prepare the database');
  database
    .command('migrate')
    .description('bring the schemas of all services up to date')
    .action(() => migrateAll(context));
  database
    .command('finish-upgrade')
    .description(
      'say that no process of an earlier release is left, so that journal entries get their new form',
    )
    .action(async () => {
      await withDatabase(context.env, openRuntimeDatabase, finishUpgrade);
      context.write('journal entries have version 2');
    });
  database
    .command('accept-restored')
    .description(
      "say that the runtime's database, or the directory of its partitions, was restored on purpose: its deployments are served again",
    )
    .action(() => acceptRestored(context));
}

const acceptRestored = ({ env, write }: CommandContext): Promise<void> =>
  withDatabase(env, openHome(env), async (home) => {
    const accepted = await acceptDisagreements(home.runtime, home.directory);
    const elsewhere = await partitionsElsewhere(env, home);
    for (const line of elsewhere) write(line);
    if (accepted.length === 0)
      return write(
        elsewhere.length > 0
          ? 'nothing else was to be accepted'
          : 'the database and the directory agree: nothing was to be accepted',
      );
    const rows = accepted.map(({ partition, here, there }) => ({
      partition,
      database: here,
      directory: there,
    }));
    write(formatRows(rows, ['partition', 'database', 'directory']));
    write(`accepted as the database has it: ${accepted.length} partitions`);
  }).catch((error: unknown) => Promise.reject(asAdvice(error)));

async function migrateAll({ env, write }: CommandContext): Promise<void> {
  const url = databaseIn(env);
  if (url === undefined)
    throw new StartupError('Set DATABASE_URL: the embedded database migrates when Orrery starts.');
  const logger = commandLogger();
  for (const [schema, migrations] of Object.entries(SCHEMAS)) {
    await using database = await connect({ url, schema, applicationName: 'orrery-migrate', logger });
    await migrate({ database, migrations, logger });
    write(`${schema} is up to date`);
  }
  await using _ = await openDirectory({
    ...{ databaseUrl: url, ...directoryOf(env) },
    applicationName: 'orrery-migrate',
    logger,
  });
  write('directory is up to date');
}
