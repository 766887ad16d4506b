import {
  type Absent,
  absentPartitions,
  keptHere,
  type RuntimeDb,
  strayedPartitions,
} from '@orrery/runtime/operator';
import type { CommandContext } from '../terminal/context.js';
import { addressVariable, visitOthers } from './all-homes.js';
import type { OpenHome } from './open-home.js';

/**
 * Lines about partitions of which the directory and the runtime's database say different places, with what to run: those that the
 * database lacks, which may be in another one by now, and those that it has although they live in another one.
 */
export async function partitionsElsewhere(env: CommandContext['env'], home: OpenHome): Promise<string[]> {
  const { runtime, directory } = home;
  const absent = await absentPartitions(runtime, directory);
  const strayed = await strayedPartitions(runtime, directory);
  if (absent.length + strayed.length === 0) return [];
  const found = new Map<number, string>();
  const look = async (db: RuntimeDb, name: string) => {
    for (const { partition } of await keptHere(db)) found.set(partition, name);
  };
  const { own = '…', unknown } = await visitOthers(env, home, absent.length > 0 ? look : undefined);
  return [
    ...absent.map((one) => textOf(one, found.get(one.partition), unknown)),
    ...strayed.map(
      ({ partition, home: other }) =>
        `partition ${partition}: in this database, and in ${other} by the directory; ${moveCommand(partition, own, `DATABASE_URL="$${addressVariable(other)}" `)} says which of both has more, and lets it live here where only this one has it`,
    ),
  ];
}

const moveCommand = (partition: number, to: string, before = ''): string =>
  `\`${before}orrery partitions move ${partition} --to ${to}\``;

function textOf(
  { partition, movesTo }: Absent,
  found: string | undefined,
  unknown: readonly string[],
): string {
  if (movesTo !== null)
    return `partition ${partition}: on its way to ${movesTo}; ${moveCommand(partition, movesTo)} ends that`;
  if (found !== undefined)
    return `partition ${partition}: in the database ${found}, to which it moved before the directory was restored; ${moveCommand(partition, found)} tells the directory so`;
  const asked =
    unknown.length === 0
      ? 'nor in another one'
      : `and others were not asked: set ${unknown.map(addressVariable).join(', ')} and run this again`;
  return `partition ${partition}: not in the database, which was restored to before it came, ${asked}; it is not served`;
}
