import { type Clock, StartupError } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { DirectoryDb } from '../../tables/directory.js';
import type { Db } from '../../tables/schema.js';
import { refuseTooEarly } from '../add-database.js';
import { databaseId } from '../homes.js';
import { carryAcknowledged, carryDefinitions, carryKeys } from './carried-rows.js';
import {
  arrive,
  fence,
  forgetMove,
  noteMove,
  noteUndone,
  type Parties,
  readState,
  refuseOthers,
  refuseUndone,
  switchHome,
  takeBack,
  undoneMeanwhile,
} from './change-home.js';
import { deleteArrived, deleteDeparted, deleteRows, deploymentsOf } from './delete-rows.js';
import { isEmpty, moveEmptyPartition } from './move-empty.js';
import {
  follows,
  isPublished,
  publish,
  type Replication,
  refuseUnpublishable,
  replicationName,
  subscribe,
  unpublish,
  unsubscribe,
} from './replication.js';
import { type MoveProgress, untilCopied, untilFlushed } from './wait-for-target.js';

/**
 * A partition moves from one database to another while its deployments are executed:
 *
 *   noted ─ published ─ subscribed ─ in_step ─ fenced ─ flushed ─ arrived ─ switched ─ ended
 *
 * Each step can be done again, by another mover too: what is done already is found in the three databases. From `fenced` to
 * `switched` nobody owns the partition. Until `switched` all can be undone, afterwards it is at the target (docs/adr/0052).
 */
export type MoveStep =
  | 'noted'
  | 'published'
  | 'subscribed'
  | 'in_step'
  | 'fenced'
  | 'flushed'
  | 'arrived'
  | 'switched'
  | 'ended';

export interface MoveOptions {
  readonly source: Db;
  readonly target: Db;
  readonly directory: DirectoryDb;
  readonly partition: number;
  /** The address of the source as the server of the target reaches it. */
  readonly sourceUrl: string;
  readonly clock: Clock;
  /** After each step. */
  readonly onStep?: (step: MoveStep) => void;
  /** About once a second while it waits for the target. */
  readonly onProgress?: (progress: MoveProgress) => void;
}

/** Moves a partition, from wherever an earlier mover has stopped. @throws StartupError that says why it cannot */
export async function movePartition(options: MoveOptions): Promise<void> {
  const { onStep = () => undefined } = options;
  const parties = await partiesOf(options);
  const replication = replicationOf(parties);
  const state = await readState(parties);
  if (
    state.livesAtSource &&
    (await isEmpty(options.source, options.partition)) &&
    !(await isPublished(replication))
  )
    return moveEmptyPartition(options, options.partition);
  if (state.livesAtSource) {
    await bringInStep(options, parties, replication, onStep);
    await handOver(options, parties, replication, onStep);
    onStep('switched');
  } else if (!(await isAtTarget(parties)))
    throw new StartupError(`The partition ${options.partition} lives in neither of these databases.`);
  await refuseOthers(parties);
  await ended(replication, options.clock);
  onStep('ended');
}

async function partiesOf({ source, target, directory, partition }: MoveOptions): Promise<Parties> {
  const [from, to] = [await databaseId(source), await databaseId(target)];
  if (from === to) throw new StartupError('Source and target are one database.');
  return { source, target, directory, partition, from, to };
}

const replicationOf = ({ source, target, partition, from }: Parties): Replication => ({
  ...{ source, target, partition, name: replicationName(partition, from) },
});

async function isAtTarget({ directory, partition, to }: Parties): Promise<boolean> {
  const home = await directory
    .selectFrom('homes')
    .select('database')
    .where('partition', '=', partition)
    .executeTakeFirst();
  return home?.database === to;
}

/** Until the target has what the source has, and follows it. Nobody notices. */
async function bringInStep(
  options: MoveOptions,
  parties: Parties,
  replication: Replication,
  onStep: (step: MoveStep) => void,
): Promise<void> {
  const { source, directory, sourceUrl } = options;
  await refuseTooEarly(directory);
  await refuseUnpublishable(source);
  await noteMove(parties);
  onStep('noted');
  const { atSource, atTarget } = await readState(parties);
  if (atSource === 0) return;
  // Its deployments would not arrive. Whether what is there may go is for the operator to say.
  if (atTarget > 0)
    throw new StartupError(
      `The target has the partition ${options.partition} from before: delete what it has of it with --abort, and move it again.`,
    );
  await refuseUndone(parties);
  await publish(replication);
  onStep('published');
  await subscribe(replication, sourceUrl);
  // Who undid the move meanwhile found no subscription to end.
  await refuseUndone(parties).catch(async (undone: unknown) => {
    await unsubscribe(replication);
    throw undone;
  });
  onStep('subscribed');
  await untilCopied(options, parties, replication);
  onStep('in_step');
}

/** From the owner at the source to none, and to the directory's naming the target. */
async function handOver(
  options: MoveOptions,
  parties: Parties,
  replication: Replication,
  onStep: (step: MoveStep) => void,
): Promise<void> {
  const isFirst = (await readState(parties)).atSource > 0;
  const since = isFirst ? await carryBefore(parties) : undefined;
  await fence(parties, replication);
  onStep('fenced');
  if (await follows(replication)) await untilFlushed(options, parties, replication);
  await unsubscribe(replication);
  onStep('flushed');
  await carryDefinitions(parties);
  await carryKeys(parties, since);
  await carryAcknowledged(parties);
  const { generation, atTarget } = await readState(parties);
  const next = atTarget > 0 ? atTarget : generation + 2;
  await arrive(parties, next);
  onStep('arrived');
  if (!(await switchHome(parties, next))) throw undoneMeanwhile(parties);
}

/** What would take long without owner is carried before, and what is new once more. @returns the time from which on it is new */
async function carryBefore(parties: Parties): Promise<Date | undefined> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(parties.source);
  await carryDefinitions(parties);
  await carryKeys(parties);
  return rows[0]?.now;
}

/** How often a mover looks whether the source's server has let go of the slot, in milliseconds. */
const LOOK_MS = 10;

async function ended(replication: Replication, clock: Clock): Promise<void> {
  await unsubscribe(replication);
  while (!(await unpublish(replication))) await clock.sleep(LOOK_MS);
}

/** Undoes a move that is under way: all is as before, at the source. @throws StartupError where it is over */
export async function abortMove(options: MoveOptions): Promise<void> {
  const parties = await partiesOf(options);
  const { source, target, partition } = parties;
  await noteUndone(parties);
  await ended(replicationOf(parties), options.clock);
  const ids = await deploymentsOf(source, partition);
  await deleteArrived(target, partition);
  await takeBack(parties, (await readState(parties)).generation);
  await deleteRows(target, partition, ids);
  await forgetMove(parties);
}

/** Deletes what is left at the source of a partition that has moved. @returns the number of rows */
export async function cleanMoved(options: MoveOptions): Promise<number> {
  const parties = await partiesOf(options);
  const { source, partition } = parties;
  if (!(await isAtTarget(parties)))
    throw new StartupError(`The partition ${partition} does not live in the target: nothing is deleted.`);
  await refuseOthers(parties);
  await ended(replicationOf(parties), options.clock);
  let rows = 0;
  await deleteRows(source, partition, await deploymentsOf(source, partition), (deleted) => (rows += deleted));
  await deleteDeparted(source, partition);
  await forgetMove(parties);
  return rows;
}
