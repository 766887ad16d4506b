import {
  listPartitions,
  moveEmptyPartition,
  openRuntimeDatabase,
  type PartitionRow,
} from '@orrery/runtime/operator';
import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import type { CommandContext } from '../terminal/context.js';
import { formatRows } from '../terminal/format-rows.js';
import { openHome } from './open-home.js';
import { commandLogger, withDatabase } from './with-database.js';

/** `orrery partitions list`, for operators: shares of all deployments, and where each lives. */
export function addPartitionsCommands(program: Command, context: CommandContext): void {
  const partitions = program
    .command('partitions')
    .description('see the 64 shares of the deployments, and in which database each lives');
  partitions
    .command('list')
    .description(
      "list the partitions with their home, generation and owner, and what the runtime's database has",
    )
    .option('--json', 'print an array')
    .action((options: { json?: true }) => list(context, options));
  partitions
    .command('move')
    .description("let partitions of the runtime's database that have no deployments live in another one")
    .argument('<partitions...>', 'their numbers, from 0 to 63')
    .requiredOption('--to-url <address>', 'the PostgreSQL address of the other database')
    .action((numbers: string[], { toUrl }: { toUrl: string }) => move(context, numbers, toUrl));
}

async function move(
  { env, write }: CommandContext,
  numbers: readonly string[],
  databaseUrl: string,
): Promise<void> {
  const partitions = numbers.map((text) => {
    if (!/^\d{1,2}$/.test(text) || Number(text) > 63)
      throw new StartupError(`${text} is no partition: they have numbers from 0 to 63.`);
    return Number(text);
  });
  await withDatabase(env, openHome(env), async ({ runtime: source, directory }) => {
    await using target = await openRuntimeDatabase({
      databaseUrl,
      logger: commandLogger(),
      maxConnections: 1,
    });
    for (const partition of partitions)
      await moveEmptyPartition({ source, target: target.db, directory }, partition);
    write(`moved: ${partitions.join(', ')}`);
  });
}

const list = ({ env, write }: CommandContext, { json }: { json?: true }): Promise<void> =>
  withDatabase(env, openHome(env), async ({ runtime, directory }) => {
    const found = await listPartitions(runtime, directory);
    write(json ? JSON.stringify(found) : formatRows(found.map(toRow), COLUMNS));
  });

const COLUMNS = ['partition', 'home', 'generation', 'inDatabase', 'owner', 'journals', 'entries'];

const toRow = ({ here, ...one }: PartitionRow) => ({
  ...one,
  inDatabase: here?.generation,
  owner: here?.owner,
  journals: here?.journals,
  entries: here?.entries,
});
