import { addDatabase, listDatabases } from '@orrery/runtime/operator';
import type { Command } from 'commander';
import type { CommandContext } from '../terminal/context.js';
import { formatRows } from '../terminal/format-rows.js';
import { openHome } from './open-home.js';
import { withDatabase } from './with-database.js';

/** `orrery databases list|add`, for operators: the databases in which deployments live. */
export function addDatabasesCommands(program: Command, context: CommandContext): void {
  const databases = program
    .command('databases')
    .description('see and add databases in which deployments live');
  databases
    .command('list')
    .description('list the databases that the directory names, with the number of their partitions')
    .option('--json', 'print an array')
    .action((options: { json?: true }) => list(context, options));
  databases
    .command('add')
    .description("name the runtime's database, which is new and empty, in the directory of another one")
    .argument('<name>', 'how it is called, such as 2')
    .action((name: string) => add(context, name));
}

const list = ({ env, write }: CommandContext, { json }: { json?: true }): Promise<void> =>
  withDatabase(env, openHome(env), async ({ directory }) => {
    const found = await listDatabases(directory);
    write(json ? JSON.stringify(found) : formatRows(found, ['name', 'partitions', 'id']));
  });

const add = ({ env, write }: CommandContext, name: string): Promise<void> =>
  withDatabase(env, openHome(env), async ({ runtime, directory }) => {
    await addDatabase(runtime, directory, name);
    write(`the database ${name} is in the directory; partitions live in it once they are moved there`);
  });
