import { query } from '@orrery/testing/servers';
import type { Home, Runtime } from './start-homes.js';

/** Which of the two homes the directory names, and the generation that it has of a partition. */
async function homeOf(directoryUrl: string, partition: number) {
  const [row] = await query<{ database: string; generation: string }>(
    directoryUrl,
    'select database, generation from directory.homes where partition = $1',
    [partition],
  );
  if (row === undefined) throw new Error(`the directory names no home of ${partition}`);
  return row;
}

const idOf = async ({ server }: Home): Promise<string> =>
  (await query<{ id: string }>(server.url, 'select id from runtime.this_database'))[0]?.id ?? '';

/** The home that the directory names, and the other one. */
export async function orderOf(
  homes: readonly [Home, Home],
  directoryUrl: string,
  partition: number,
): Promise<readonly [Home, Home]> {
  const { database } = await homeOf(directoryUrl, partition);
  const ids = await Promise.all(homes.map(idOf));
  if (!ids.includes(database)) throw new Error(`the directory names neither home: ${database}`);
  return ids[0] === database ? homes : [homes[1], homes[0]];
}

/** The process that holds a partition at a home. */
export async function ownerAt({ server, runtimes }: Home, partition: number): Promise<Runtime | undefined> {
  const [row] = await query<{ owner: string }>(
    server.url,
    'select owner from runtime.partitions where id = $1 and owner is not null and expires_at > now()',
    [partition],
  );
  return runtimes.find(({ name }) => name === row?.owner);
}

/** What a home has of a partition: whether it lives there by its own row, and its deployments. */
export async function heldBy({ server }: Home, partition: number) {
  const [row] = await query<{ generation: string; deployments: number; departed: number }>(
    server.url,
    `select generation, (select count(*)::int from runtime.deployments where id % 64 = $1) as deployments,
      (select count(*)::int from runtime.departed_deployments where id % 64 = $1) as departed
    from runtime.partitions where id = $1`,
    [partition],
  );
  return { lives: Number(row?.generation) > 0, deployments: row?.deployments, departed: row?.departed };
}

/** What a move has made in a database and did not take away. */
export async function leftByMoves({ server }: Home): Promise<string[]> {
  const rows = await query<{ name: string }>(
    server.url,
    `select 'publication ' || pubname as name from pg_publication
      union all select 'slot ' || slot_name from pg_replication_slots
      union all select 'subscription ' || subname from pg_subscription
      union all select 'identity of ' || relname from pg_class
        where relnamespace = 'runtime'::regnamespace and relreplident = 'f'`,
  );
  return rows.map(({ name }) => name);
}
