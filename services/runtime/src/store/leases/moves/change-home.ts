import { transaction } from '@orrery/database';
import { StartupError } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { DirectoryDb } from '../../tables/directory.js';
import type { Db, Trx } from '../../tables/schema.js';
import { departing } from './carried-rows.js';
import { hasPublication, type Replication } from './replication.js';

/** For statements over all deployments of a partition, which nobody has meanwhile. */
const AT_LENGTH = { unbounded: 'statements' } as const;

/** What the directory and both databases have of a partition that moves: all that a mover goes by. */
export interface MoveState {
  /** By the directory. */
  readonly generation: number;
  readonly livesAtSource: boolean;
  /** The generation that each database has; 0 where the partition is not in it. */
  readonly atSource: number;
  readonly atTarget: number;
}

export interface Parties {
  readonly source: Db;
  readonly target: Db;
  readonly directory: DirectoryDb;
  readonly partition: number;
  /** The ids of both databases. */
  readonly from: string;
  readonly to: string;
}

export async function readState(parties: Parties): Promise<MoveState> {
  const { source, target, directory, partition, from } = parties;
  const home = await directory
    .selectFrom('homes')
    .select(['database', 'generation'])
    .where('partition', '=', partition)
    .executeTakeFirstOrThrow();
  return {
    generation: home.generation,
    livesAtSource: home.database === from,
    atSource: await generationIn(source, partition),
    atTarget: await generationIn(target, partition),
  };
}

export async function generationIn(db: Db, partition: number): Promise<number> {
  const { rows } = await sql<{ generation: number }>`
    select generation from partitions where id = ${partition}`.execute(db);
  return rows[0]?.generation ?? 0;
}

/**
 * Notes the move in the directory, or finds it noted. One at a time leaves a database: what a move sets for whole tables is set
 * back at its end. @throws StartupError
 */
export async function noteMove({ directory, partition, from, to }: Parties): Promise<void> {
  await transaction(directory, async (trx) => {
    await sql`lock table moves in exclusive mode`.execute(trx);
    const moves = await trx
      .selectFrom('moves')
      .innerJoin('homes', 'homes.partition', 'moves.partition')
      .select(['moves.partition', 'source', 'target', 'undone', 'database as home'])
      .execute();
    const noted = moves.find((one) => one.partition === partition);
    if (noted?.undone)
      throw new StartupError(`The move of ${partition} is being undone: end that with --abort.`);
    if (noted?.source === from && noted.target === to) return;
    if (noted !== undefined)
      throw new StartupError(
        noted.home === noted.target
          ? `Rows of the partition ${partition} are left where it lived before: delete them with --clean.`
          : `The partition ${partition} is on its way to another database.`,
      );
    const other = moves.find(({ source, home }) => source === from && home === from);
    if (other !== undefined)
      throw new StartupError(
        `The partition ${other.partition} is leaving this database: one does at a time.`,
      );
    await trx.insertInto('moves').values({ partition, source: from, target: to }).execute();
  });
}

const notedMove = ({ directory, partition }: Parties) =>
  directory.selectFrom('moves').select('undone').where('partition', '=', partition).executeTakeFirst();

/** @throws StartupError where the move is undone, or was: what a mover waits for may never come then */
export async function refuseUndone(parties: Parties): Promise<void> {
  if ((await notedMove(parties))?.undone !== false) throw undoneMeanwhile(parties);
}

export const undoneMeanwhile = ({ partition }: Pick<Parties, 'partition'>): StartupError =>
  new StartupError(`The move of ${partition} was undone meanwhile.`);

/**
 * Ends the ownership at the source: the row gets no owner, the next epoch and generation 0, under a lock that waits for commits
 * and creations, and the deployments leave `deployments`. From then on nothing of the partition is written or found there.
 * Without a replication what the source has does not go to the target, which has the partition already.
 * @throws StartupError where the move is undone, or was
 */
export async function fence(parties: Parties, replication: Replication | undefined): Promise<void> {
  const { source, partition } = parties;
  await transaction(
    source,
    async (trx) => {
      const { rows } = await sql<{ generation: number }>`
      select generation from partitions where id = ${partition} for update`.execute(trx);
      if (rows[0]?.generation === 0) return;
      // `takeBack` waits for this lock, after the note and without a publication: either it sees this fence, or this sees those.
      await refuseUndone(parties);
      if (replication !== undefined && !(await hasPublication({ ...replication, source: trx })))
        throw undoneMeanwhile(parties);
      await sql`
      insert into departed_deployments (id, row)
      select id, to_json(d) from deployments d where id % 64 = ${partition}`.execute(trx);
      await sql`delete from deployments where id % 64 = ${partition}`.execute(trx);
      // `expires_at` says since when nobody has it.
      await sql`
      update partitions set generation = 0, owner = null, expires_at = clock_timestamp(), epoch = epoch + 1
      where id = ${partition}`.execute(trx);
    },
    AT_LENGTH,
  );
}

/** For how long a partition that has left the source has been without owner, in milliseconds, whoever fenced it. */
export async function ownerlessMs({ source, partition }: Parties): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number | null }>`
    select extract(epoch from clock_timestamp() - expires_at)::float8 * 1000 as ms
    from partitions where id = ${partition} and generation = 0`.execute(source);
  return rows[0]?.ms ?? undefined;
}

/** The rows in JSON as deployments. */
const insertDeployments = (trx: Trx, rows: string) =>
  sql`
    insert into deployments overriding system value
    select * from json_populate_recordset(null::deployments, cast(${rows} as json))`.execute(trx);

/** Undoes `fence`. The generation is one ahead of the directory's, as after a raise. */
export async function takeBack({ source, partition }: Parties, generation: number): Promise<void> {
  await transaction(
    source,
    async (trx) => {
      const { rows } = await sql<{ generation: number }>`
      select generation from partitions where id = ${partition} for update`.execute(trx);
      if (rows[0]?.generation !== 0) return;
      for await (const page of departing({ source: trx, partition })) await insertDeployments(trx, page);
      await sql`delete from departed_deployments where id % 64 = ${partition}`.execute(trx);
      await sql`
      update partitions set generation = ${generation + 1}, expires_at = null, epoch = epoch + 1
      where id = ${partition}`.execute(trx);
    },
    AT_LENGTH,
  );
}

/**
 * Lets the partition be at the target, under a generation that neither had: its deployments are found from then on. Nobody owns
 * it before the directory names the target. Its heads look changed, for those who compare heads.
 * @throws StartupError where the move is undone, or was
 */
export async function arrive(parties: Parties, generation: number): Promise<void> {
  const { source, target, partition } = parties;
  const { rows } = await sql<{ epoch: number }>`select epoch from partitions where id = ${partition}`.execute(
    source,
  );
  const epoch = rows[0]?.epoch ?? 0;
  await transaction(
    target,
    async (trx) => {
      const { rows: found } = await sql<{ generation: number }>`
      select generation from partitions where id = ${partition} for update`.execute(trx);
      // `deleteArrived` waits for this lock, after the note; a source that has the partition again took it back before another move.
      await refuseUndone(parties);
      if ((await generationIn(source, partition)) !== 0) throw undoneMeanwhile(parties);
      if (found[0]?.generation !== 0) return raiseArrived(trx, partition, generation);
      for await (const page of departing({ source, partition })) {
        await insertDeployments(trx, page);
        await sql`
        update journal_heads set active_minute = floor(extract(epoch from now()) / 60)::integer
        where deployment_id in (select (d->>'id')::bigint from json_array_elements(cast(${page} as json)) d)`.execute(
          trx,
        );
      }
      await sql`
      update partitions set generation = ${generation}, epoch = greatest(epoch, ${epoch}) + 1, owner = null, expires_at = null
      where id = ${partition}`.execute(trx);
    },
    AT_LENGTH,
  );
}

/** Of one that has arrived before. */
async function raiseArrived(trx: Trx, partition: number, generation: number): Promise<void> {
  await sql`
    update partitions set generation = ${generation} where id = ${partition} and generation < ${generation}`.execute(
    trx,
  );
}

/** Lets the directory name the target: the one statement that decides. @returns false where the move is undone */
export function switchHome(
  { directory, partition, from, to }: Parties,
  generation: number,
): Promise<boolean> {
  return transaction(directory, async (trx) => {
    const noted = await trx
      .selectFrom('moves')
      .select('undone')
      .where('partition', '=', partition)
      .forUpdate()
      .executeTakeFirst();
    if (noted === undefined || noted.undone) return false;
    const { numUpdatedRows } = await trx
      .updateTable('homes')
      .set({ database: to, generation })
      .where('partition', '=', partition)
      .where('database', '=', from)
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  });
}

/** Notes that the move is being undone, so that no mover ends it. @throws StartupError where there is nothing to undo */
export async function noteUndone({ directory, partition, from, to }: Parties): Promise<void> {
  await transaction(directory, async (trx) => {
    const noted = await trx
      .selectFrom('moves')
      .innerJoin('homes', 'homes.partition', 'moves.partition')
      .select(['source', 'target', 'database as home'])
      .where('moves.partition', '=', partition)
      .forUpdate()
      .executeTakeFirst();
    if (noted === undefined || noted.source !== from || noted.target !== to)
      throw new StartupError(`The partition ${partition} is not on its way between these databases.`);
    if (noted.home === to)
      throw new StartupError(`The partition ${partition} has moved: move it back instead, after --clean.`);
    await trx.updateTable('moves').set({ undone: true }).where('partition', '=', partition).execute();
  });
}

/** @throws StartupError where the partition is noted to move, or to have moved, between others than these */
export async function refuseOthers({ directory, partition, from, to }: Parties): Promise<void> {
  const noted = await directory
    .selectFrom('moves')
    .innerJoin('databases', 'databases.id', 'moves.source')
    .select(['source', 'target', 'databases.name'])
    .where('partition', '=', partition)
    .executeTakeFirst();
  if (noted === undefined || (noted.source === from && noted.target === to)) return;
  throw new StartupError(
    `The partition ${partition} moves, or has moved, between other databases than these: its source is "${noted.name}".`,
  );
}

export const forgetMove = ({ directory, partition, from, to }: Parties) =>
  directory
    .deleteFrom('moves')
    .where('partition', '=', partition)
    .where('source', '=', from)
    .where('target', '=', to)
    .execute();
