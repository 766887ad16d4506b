import { StartupError } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { Db } from '../../tables/schema.js';
import { generationIn, type Parties } from './change-home.js';

/** What a target has of the journals of a partition and the source lacks: it was executed there. */
interface Newer {
  readonly deployments: number;
  /** At least so many. */
  readonly entries: number;
  readonly lastAt: Date | undefined;
}

interface Head {
  readonly id: number;
  readonly seq: number;
  readonly hash: string;
}

/** Heads that are compared at once. */
const AT_ONCE = 1000;

/** A journal at the target that does not continue at the source is newer, or another one. */
async function newerAtTarget({ source, target, partition }: Parties): Promise<Newer | undefined> {
  let [deployments, entries, lastAt] = [0, 0, undefined as Date | undefined];
  for (let after = 0; ; ) {
    const { rows: heads } = await sql<Head>`
      select deployment_id as id, seq, hash from journal_heads
      where deployment_id > ${after} and deployment_id % 64 = ${partition} order by deployment_id limit ${AT_ONCE}`.execute(
      target,
    );
    const last = heads.at(-1);
    if (last === undefined) break;
    after = last.id;
    const lacking = await lackingAt(source, heads);
    if (lacking.length === 0) continue;
    deployments += lacking.length;
    entries = lacking.reduce((sum, one) => sum + one.entries, entries);
    lastAt = later(lastAt, await lastActivity(target, lacking));
  }
  return deployments === 0 ? undefined : { deployments, entries, lastAt };
}

async function lackingAt(source: Db, heads: readonly Head[]): Promise<{ id: number; entries: number }[]> {
  const { rows } = await sql<{ id: number; entries: number }>`
    select t.id, greatest(t.seq - coalesce(h.seq, 0), 1) as entries
    from jsonb_to_recordset(cast(${JSON.stringify(heads)} as jsonb)) as t (id bigint, seq bigint, hash text)
    left join journal_heads h on h.deployment_id = t.id
    left join journal j on j.deployment_id = t.id and j.seq = t.seq
    where h.deployment_id is null or (t.seq > 0 and j.hash is distinct from t.hash)`.execute(source);
  return rows;
}

async function lastActivity(target: Db, lacking: readonly { id: number }[]): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select max(j.executed_at) as at from journal_heads h join journal j using (deployment_id, seq)
    where h.deployment_id = any(${lacking.map(({ id }) => id)})`.execute(target);
  return rows[0]?.at ?? undefined;
}

const later = (one: Date | undefined, other: Date | undefined): Date | undefined =>
  one === undefined || (other !== undefined && other > one) ? other : one;

/**
 * Says of a target that has a partition which lives at the source what is newer there; `undefined` where nothing is: what a move
 * brings in vain, and what a target has from before, is at the source too. A restore of the directory, or of the source, to
 * before the partition moved lets the source seem its home again. Owners raise generations beyond the one that a move gives.
 */
async function newerText(parties: Parties, generation: number): Promise<string | undefined> {
  const { target, partition } = parties;
  const here = await generationIn(target, partition);
  if (here === 0) return undefined;
  const newer = await newerAtTarget(parties);
  if (newer !== undefined)
    return `The target has what the source lacks of the partition ${partition}: ${entriesText(newer)}.`;
  return here > generation + 2
    ? `The target has owned the partition ${partition}: it has the generation ${here} there, and ${generation} in the directory.`
    : undefined;
}

function entriesText({ deployments, entries, lastAt }: Newer): string {
  const last = lastAt === undefined ? '' : `, the last of ${lastAt.toISOString()}`;
  return `${entries} entries or more of ${deployments} deployments${last}`;
}

const RESTORED =
  'The directory, or the source, was restored to before the partition moved (docs/operations.md, "Restoring one of two").';

/** @throws StartupError where undoing a move would delete what only the target has */
export async function refuseDiscardingTarget(parties: Parties, generation: number): Promise<void> {
  const newer = await newerText(parties, generation);
  if (newer === undefined) return;
  throw new StartupError(
    `${newer} ${RESTORED} Move it without --abort to keep that, or delete it with --abort --discard-target.`,
  );
}

/**
 * Its deployments would not arrive at a target that has the partition. What may go is for the operator to say.
 * @throws StartupError unless the target has newer ones, and the source's are to go
 */
export async function refuseBoth(
  parties: Parties,
  generation: number,
  discardSource: boolean | undefined,
): Promise<void> {
  const newer = await newerText(parties, generation);
  if (newer === undefined)
    throw new StartupError(
      `The target has the partition ${parties.partition} from before: delete what it has of it with --abort, and move it again.`,
    );
  if (!discardSource)
    throw new StartupError(
      `${newer} ${RESTORED} Both have it: keep what the target has with --discard-source, or what the source has with --abort --discard-target.`,
    );
}
