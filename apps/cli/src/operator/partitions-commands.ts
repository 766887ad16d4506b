import { listPartitions, type PartitionRow } from '@orrery/runtime/operator';
import type { Command } from 'commander';
import type { CommandContext } from '../terminal/context.js';
import { formatRows } from '../terminal/format-rows.js';
import { openHome } from './open-home.js';
import { withDatabase } from './with-database.js';

/** `orrery partitions list`, for operators: shares of all deployments, and where each lives. */
export function addPartitionsCommands(program: Command, context: CommandContext): void {
  program
    .command('partitions')
    .description('see the 64 shares of the deployments, and in which database each lives')
    .command('list')
    .description(
      "list the partitions with their home, generation and owner, and what the runtime's database has",
    )
    .option('--json', 'print an array')
    .action((options: { json?: true }) => list(context, options));
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
