import { migrations as catalog } from '@orrery/catalog/migrations';
import { migrations as chainPusher } from '@orrery/chain-pusher/migrations';
import { connect, type Migrations, migrate } from '@orrery/database';
import { migrations as gateway } from '@orrery/gateway/migrations';
import { migrations as runtime } from '@orrery/runtime/migrations';
import { finishUpgrade, openRuntimeDatabase } from '@orrery/runtime/operator';
import { migrations as scheduler } from '@orrery/scheduler/migrations';
import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import type { CommandContext } from '../terminal/context.js';
import { commandLogger, withDatabase } from './with-database.js';

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
}

async function migrateAll({ env, write }: CommandContext): Promise<void> {
  const url = env.DATABASE_URL;
  if (!url) throw new StartupError('Set DATABASE_URL: the embedded database migrates when Orrery starts.');
  const logger = commandLogger();
  for (const [schema, migrations] of Object.entries(SCHEMAS)) {
    await using database = await connect({ url, schema, applicationName: 'orrery-migrate', logger });
    await migrate({ database, migrations, logger });
    write(`${schema} is up to date`);
  }
}
