import type { PartitionRow } from '@orrery/runtime/operator';
import type { Command } from 'commander';
import type { CommandContext } from '../terminal/context.js';
import { formatRows } from '../terminal/format-rows.js';
import { listInAll } from './all-homes.js';
import { type MoveWishes, movePartitions } from './move-partitions.js';
import { openHome } from './open-home.js';
import { spreadPartitions } from './spread-partitions.js';
import { withDatabase } from './with-database.js';

/** `orrery partitions list`, for operators: shares of all deployments, and where each lives. */
export function addPartitionsCommands(program: Command, context: CommandContext): void {
  const partitions = program
    .command('partitions')
    .description('see the 64 shares of the deployments, and in which database each lives');
  partitions
    .command('list')
    .description(
      "list the partitions with their home, generation and owner, and what is in them: in the runtime's database, and in those of DATABASE_URL_<NAME>",
    )
    .option('--json', 'print an array')
    .action((options: { json?: true }) => list(context, options));
  partitions
    .command('spread')
    .description('propose moves that make the load of all databases even; nothing is moved')
    .option('--json', 'print an array')
    .action((options: { json?: true }) => spreadPartitions(context, options));
  partitions
    .command('move')
    .description(
      "let partitions of the runtime's database live in another one, with all their deployments; run it again after a failure",
    )
    .argument('<partitions...>', 'their numbers, from 0 to 63')
    .option('--to <name>', 'the other database, whose address is in DATABASE_URL_<NAME>')
    .option('--to-url <address>', 'the PostgreSQL address of the other database')
    .option('--from-url <address>', "the address of the runtime's database, as the other server reaches it")
    .option('--watch', 'only tell how far a move is that another command carries out, until it ends')
    .option('--abort', 'undo a move that is under way')
    .option('--discard-target', 'with --abort: delete also what only the target has, as after a restore')
    .option(
      '--discard-source',
      'where both have it since one of two was restored: keep what the target has, and leave what the source has',
    )
    .option('--clean', 'delete what a move has left where the partition lived before')
    .action((numbers: string[], wishes: MoveWishes) => movePartitions(context, numbers, wishes));
}

const list = ({ env, write }: CommandContext, { json }: { json?: true }): Promise<void> =>
  withDatabase(env, openHome(env), async (home) => {
    const { partitions: found } = await listInAll(env, home);
    write(json ? JSON.stringify(found) : formatRows(found.map(toRow), COLUMNS));
  });

const COLUMNS = [
  'partition',
  'home',
  'generation',
  'inDatabase',
  'owner',
  'journals',
  'entries',
  'perHour',
  'move',
];

const toRow = ({ here, move, ...one }: PartitionRow) => ({
  ...one,
  move: move && `${move.from} → ${move.to}`,
  perHour: here?.perHour,
  inDatabase: here?.generation,
  owner: here?.owner,
  journals: here?.journals,
  entries: here?.entries,
});
