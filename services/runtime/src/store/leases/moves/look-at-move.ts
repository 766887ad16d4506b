import { sql } from 'kysely';
import type { Db } from '../../tables/schema.js';
import { databaseId } from '../homes.js';
import { type MoveState, type Parties, readState } from './change-home.js';
import type { MoveOptions, MoveStep } from './move-partition.js';
import { isPublished, isSubscribed, readProgress, replicationName } from './replication.js';
import { entriesOf, type MoveProgress } from './wait-for-target.js';

/** What the commands that change something call themselves to the servers; one that only looks on has another name. */
export const OPERATOR = 'orrery-operator';

/** A move as the databases have it, whoever carries it out. */
export interface MoveView {
  /** The last step that is done; `undefined`: the partition is not on its way between these databases. */
  readonly step: MoveStep | undefined;
  readonly isAtTarget: boolean;
  /** It is being undone. */
  readonly isUndone: boolean;
  /** A command works at one of the two databases, as far as their servers tell. */
  readonly isCarriedOn: boolean;
  /** While rows are copied. */
  readonly progress: MoveProgress | undefined;
  /** For how long it has been under way, in milliseconds. */
  readonly forMs: number;
}

type Between = Pick<MoveOptions, 'source' | 'target' | 'directory' | 'partition'>;

/** Changes nothing. Who works on it is read first: a command that ends meanwhile has left its last step behind. */
export async function lookAtMove({ source, target, directory, partition }: Between): Promise<MoveView> {
  const [from, to] = [await databaseId(source), await databaseId(target)];
  const parties: Parties = { source, target, directory, partition, from, to };
  const isCarriedOn = (await isWorkedOn(source)) || (await isWorkedOn(target));
  const noted = await notedMove(parties);
  const state = await readState(parties);
  const isAtTarget = !state.livesAtSource;
  const seen = { isAtTarget, isCarriedOn, isUndone: noted?.undone === true, forMs: noted?.forMs ?? 0 };
  if (noted === undefined) return { ...seen, step: undefined, progress: undefined };
  const replication = { source, target, partition, name: replicationName(partition, from) };
  const copied = await readProgress(replication);
  const step = stepOf({
    ...state,
    isPublished: await isPublished(replication),
    isSubscribed: await isSubscribed(replication),
    isInStep: copied !== undefined && copied.inStep === copied.tables,
  });
  const isCopying = step === 'subscribed' && copied !== undefined;
  const progress = isCopying
    ? { ...copied, ofEntries: await entriesOf(source, partition), isCopied: false }
    : undefined;
  return { ...seen, step, progress };
}

interface StepFacts extends Omit<MoveState, 'generation'> {
  readonly isPublished: boolean;
  readonly isSubscribed: boolean;
  /** All tables are copied and follow the source. */
  readonly isInStep: boolean;
}

/** The last step that is done of a move that is noted. */
export function stepOf(facts: StepFacts): MoveStep {
  const { livesAtSource, atSource, atTarget } = facts;
  if (!livesAtSource) return facts.isPublished ? 'switched' : 'ended';
  if (atTarget > 0) return 'arrived';
  if (atSource === 0) return facts.isSubscribed ? 'fenced' : 'flushed';
  if (facts.isSubscribed) return facts.isInStep ? 'in_step' : 'subscribed';
  return facts.isPublished ? 'published' : 'noted';
}

async function notedMove({ directory, partition, from, to }: Parties) {
  const { rows } = await sql<{ undone: boolean; forMs: number }>`
    select undone, extract(epoch from now() - begun_at)::float8 * 1000 as "forMs" from moves
    where partition = ${partition} and source = ${from} and target = ${to}`.execute(directory);
  return rows[0];
}

/** A mover looks at least every second; whatever else an operator runs in these seconds counts as one. */
const IDLE = sql`interval '10 seconds'`;

async function isWorkedOn(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and application_name = ${OPERATOR}
      and pid <> pg_backend_pid() and (state <> 'idle' or state_change > clock_timestamp() - ${IDLE}) limit 1`.execute(
    db,
  );
  return rows.length > 0;
}
