import { type PartitionLoad, type ProposedMove, proposeMoves } from '@orrery/runtime/operator';
import { StartupError } from '@orrery/service-kit';
import type { CommandContext } from '../terminal/context.js';
import { formatRows } from '../terminal/format-rows.js';
import { type AllHomes, addressVariable, listInAll } from './all-homes.js';
import { openHome } from './open-home.js';
import { withDatabase } from './with-database.js';

/** `orrery partitions spread`: proposes moves that make the load of all databases even. @throws StartupError */
export const spreadPartitions = (
  { env, write }: CommandContext,
  { json }: { readonly json?: true },
): Promise<void> =>
  withDatabase(env, openHome(env), async (home) => {
    const all = await listInAll(env, home);
    const [missing] = all.unknown;
    if (missing !== undefined)
      throw new StartupError(
        `Set ${addressVariable(missing)} to the address of the database ${missing}: what it has is part of the load.`,
      );
    const loads = loadsOf(all);
    const moves = proposeMoves(loads, all.databases);
    if (json) return write(JSON.stringify(moves));
    write(formatRows(toRows(loads, moves, all.databases), ['home', 'perHour', 'entries', 'partitions']));
    if (moves.length === 0) write('nothing is to be moved');
    for (const command of commandsOf(moves, all.own, env)) write(command);
  });

const loadsOf = ({ partitions }: AllHomes): PartitionLoad[] =>
  partitions.flatMap(({ partition, home, here, move }) => {
    const { perHour = 0, entries = 0 } = here ?? {};
    return home === null
      ? []
      : [{ partition, home, perHour, entries, canMove: here !== null && move === null }];
  });

/** What each database has now, and will have. */
function toRows(loads: readonly PartitionLoad[], moves: readonly ProposedMove[], homes: readonly string[]) {
  const targets = new Map(moves.map(({ partition, to }) => [partition, to]));
  const sum = (some: readonly PartitionLoad[]) => ({
    perHour: some.reduce((total, { perHour }) => total + perHour, 0),
    entries: some.reduce((total, { entries }) => total + entries, 0),
    partitions: some.length,
  });
  return homes.map((home) => {
    const now = sum(loads.filter((load) => load.home === home));
    const then = sum(loads.filter((load) => (targets.get(load.partition) ?? load.home) === home));
    const both = (member: keyof typeof now) =>
      now[member] === then[member] ? `${now[member]}` : `${now[member]} → ${then[member]}`;
    return { home, perHour: both('perHour'), entries: both('entries'), partitions: both('partitions') };
  });
}

/** One command for the moves between the same two databases. Variables stand for addresses, which hold passwords. */
function commandsOf(
  moves: readonly ProposedMove[],
  own: string | undefined,
  env: CommandContext['env'],
): string[] {
  const together = new Map<string, number[]>();
  for (const { partition, from, to } of moves) {
    const source = from === own ? '' : `DATABASE_URL="$${addressVariable(from)}" `;
    const target = env[addressVariable(to)] ? `--to ${to}` : '--to-url "$DATABASE_URL"';
    const command = `${source}orrery partitions move … ${target}`;
    together.set(command, [...(together.get(command) ?? []), partition]);
  }
  return [...together].map(([command, partitions]) => command.replace('…', partitions.join(' ')));
}
