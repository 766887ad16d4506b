import { StartupError } from '@orrery/service-kit';
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
  generationIn,
  noteMove,
  noteUndone,
  ownerlessMs,
  type Parties,
  readState,
  refuseOthers,
  refuseUndone,
  switchHome,
  takeBack,
  undoneMeanwhile,
} from './change-home.js';
import { refuseBoth, refuseDiscardingTarget } from './compare-target.js';
import { deleteArrived, deleteDeparted, deleteRows, deploymentsOf, journalsOf } from './delete-rows.js';
import { isEmpty, moveEmptyPartition } from './move-empty.js';
import { insist, type Waiting } from './move-news.js';
import { raiseSequences } from './raise-sequences.js';
import {
  dropPublication,
  dropSlot,
  dropSubscription,
  follows,
  isPublished,
  publish,
  type Replication,
  refuseUnpublishable,
  replicationName,
  stopFollowing,
  subscribe,
  unpublish,
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

export interface MoveOptions extends Waiting {
  readonly source: Db;
  readonly target: Db;
  readonly directory: DirectoryDb;
  readonly partition: number;
  /** The address of the source as the server of the target reaches it. */
  readonly sourceUrl: string;
  /** After each step. After `switched` with the milliseconds in which nobody owned the partition, as far as the source tells. */
  readonly onStep?: OnStep;
  /** About once a second while it waits for the target. */
  readonly onProgress?: (progress: MoveProgress) => void;
  /** Where both databases have the partition since one was restored: what the source has goes, and is not at the target. */
  readonly discardSource?: boolean;
  /** An undoing deletes what only the target has. */
  readonly discardTarget?: boolean;
}

type OnStep = (step: MoveStep, ownerlessMs?: number) => void;

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
    onStep('switched', await ownerlessMs(parties));
  } else if (!(await isAtTarget(parties)))
    throw new StartupError(`The partition ${options.partition} lives in neither of these databases.`);
  await refuseOthers(parties);
  await ended(replication, options);
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
  onStep: OnStep,
): Promise<void> {
  const { source, directory, sourceUrl } = options;
  await refuseTooEarly(directory);
  await refuseUnpublishable(source);
  await noteMove(parties);
  onStep('noted');
  const { atSource, atTarget, generation } = await readState(parties);
  if (atSource === 0) return;
  if (atTarget > 0) {
    await refuseBoth(parties, generation, options.discardSource);
    return fence(parties, undefined);
  }
  const check = () => refuseUndone(parties);
  await check();
  // Who undid the move meanwhile did not find what these make.
  const checkMade = () =>
    check().catch(async (undone: unknown) => {
      await ended(replication, options);
      throw undone;
    });
  await publish(replication, options, check);
  await checkMade();
  onStep('published');
  await subscribe(replication, sourceUrl);
  await checkMade();
  onStep('subscribed');
  await untilCopied(options, parties, replication);
  onStep('in_step');
}

/** From the owner at the source to none, and to the directory's naming the target. */
async function handOver(
  options: MoveOptions,
  parties: Parties,
  replication: Replication,
  onStep: OnStep,
): Promise<void> {
  const check = () => refuseUndone(parties);
  const insistent = (work: () => Promise<void>) => insist(options, check, work);
  const isFirst = (await readState(parties)).atSource > 0;
  const since = isFirst ? await carryBefore(parties, options) : await begunAt(parties);
  if (isFirst) await raiseSequences(parties, options, check, false);
  await fence(parties, replication);
  onStep('fenced');
  await insistent(async () => {
    if (await follows(replication)) await untilFlushed(options, parties, replication);
  });
  await insistent(() => stopFollowing(replication));
  onStep('flushed');
  await insistent(() => carryDefinitions(parties));
  await insistent(() => carryKeys(parties, since, options.onNews));
  await insistent(() => carryAcknowledged(parties));
  await insistent(() => raiseSequences(parties, options, check, true));
  await insistent(() => handToTarget(parties, onStep));
}

async function handToTarget(parties: Parties, onStep: OnStep): Promise<void> {
  const { generation, atTarget, livesAtSource } = await readState(parties);
  if (!livesAtSource) return;
  const next = Math.max(atTarget, generation + 2);
  await arrive(parties, next);
  onStep('arrived');
  if (!(await switchHome(parties, next))) throw undoneMeanwhile(parties);
}

/** What would take long without owner is carried before, and what is new once more. @returns the time from which on it is new */
async function carryBefore(parties: Parties, { onNews }: Waiting): Promise<Date | undefined> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(parties.source);
  await carryDefinitions(parties);
  await carryKeys(parties, undefined, onNews);
  return rows[0]?.now;
}

/** When the move was noted, by the source's clock: whoever fenced the partition has carried before what was there then. */
async function begunAt({ source, directory, partition }: Parties): Promise<Date | undefined> {
  const { rows: noted } = await sql<{ forMs: number }>`
    select extract(epoch from now() - begun_at)::float8 * 1000 as "forMs" from moves
    where partition = ${partition}`.execute(directory);
  const { rows } = await sql<{ at: Date }>`
    select now() - ${noted[0]?.forMs ?? 0} * interval '1 millisecond' as at`.execute(source);
  return rows[0]?.at;
}

/** How often a mover looks whether the source's server has let go of the slot, in milliseconds. */
const LOOK_MS = 10;

async function ended(replication: Replication, waiting: Waiting): Promise<void> {
  await stopFollowing(replication);
  // First the slot, for which the source keeps its log: the rest may wait for hours.
  await dropSlot(replication);
  await dropSubscription(replication, waiting);
  while (!(await unpublish(replication, waiting))) {
    waiting.onNews?.({ kind: 'slot_in_use' });
    await waiting.clock.sleep(LOOK_MS);
  }
}

/** Undoes a move that is under way: all is as before, at the source. @throws StartupError where it is over, or something would be lost */
export async function abortMove(options: MoveOptions): Promise<void> {
  const parties = await partiesOf(options);
  const { source, target, partition } = parties;
  const { generation, livesAtSource } = await readState(parties);
  if (livesAtSource && !options.discardTarget) await refuseDiscardingTarget(parties, generation);
  await noteUndone(parties);
  const replication = replicationOf(parties);
  await stopFollowing(replication);
  await dropPublication(replication);
  // A mover may have the rows locked for longer than statements wait: nobody has the partition meanwhile.
  const insistent = (work: () => Promise<void>) => insist(options, async () => undefined, work);
  await insistent(() => deleteArrived(target, partition));
  await insistent(async () => takeBack(parties, (await readState(parties)).generation));
  // Afterwards, as it waits for others, such as a backup.
  await ended(replication, options);
  const ids = new Set([
    ...(await deploymentsOf(source, partition)),
    ...(await journalsOf(target, partition)),
  ]);
  await deleteRows(target, partition, [...ids], tellDeleted(options));
  await forgetMove(parties);
}

/** Deletes what is left at the source of a partition that has moved. @returns the number of rows */
export async function cleanMoved(options: MoveOptions): Promise<number> {
  const parties = await partiesOf(options);
  const { source, partition } = parties;
  if (!(await isAtTarget(parties)))
    throw new StartupError(`The partition ${partition} does not live in the target: nothing is deleted.`);
  await refuseOthers(parties);
  if ((await generationIn(source, partition)) > 0)
    throw new StartupError(
      `The source has the partition ${partition}, though the directory says that it lives in the target: one of them was restored (docs/operations.md, "Restoring one of two"). Nothing is deleted.`,
    );
  await ended(replicationOf(parties), options);
  let rows = 0;
  const tell = tellDeleted(options);
  await deleteRows(source, partition, await deploymentsOf(source, partition), (deleted) => {
    rows += deleted;
    tell(deleted);
  });
  await deleteDeparted(source, partition);
  await forgetMove(parties);
  return rows;
}

function tellDeleted({ onNews }: Waiting): (deleted: number) => void {
  let rows = 0;
  return (deleted) => {
    rows += deleted;
    onNews?.({ kind: 'rows_deleted', rows });
  };
}
