import type { Bus } from '@orrery/bus';
import { runtimeContract } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { DatabaseClock } from '../database/database-clock.js';
import type { Db } from '../database/db.js';
import type { OccurrenceKind } from '../database/schema.js';
import { asSchedule, keyOf } from './fire-occurrence.js';

interface AcknowledgeDependencies {
  readonly db: Db;
  readonly bus: Pick<Bus, 'call'>;
  readonly clock: Clock;
  readonly databaseNow: DatabaseClock;
}

interface Ended {
  readonly id: number;
  readonly deployment: string;
  readonly event: string;
  readonly kind: OccurrenceKind;
  readonly due_at: Date;
  readonly attempt: number;
}

/** Keys of one call; an occurrence has a key for each of its attempts. */
const OCCURRENCES = 300;

/**
 * The runtime keeps the keys of an occurrence this long after its end, in milliseconds. Until then an attempt that was
 * sent late, by a process that had stopped or through a connection that was down, gets its outcome. Later it is refused.
 */
const KEPT_MS = 10 * 60_000;

/**
 * Tells the runtime of occurrences whose outcomes are stored, so that it forgets their keys. It then refuses whatever came
 * before them, so the runs of a schedule are told of in their order. Resolves with whether there may be more.
 */
export async function acknowledgeEnded(
  { db, bus, clock, databaseNow }: AcknowledgeDependencies,
  signal: AbortSignal,
): Promise<boolean> {
  const until = new Date((await databaseNow()) - KEPT_MS);
  const { rows } = await sql<Ended>`
    select o.id, o.kind, o.due_at, o.attempt, s.deployment, s.event
    from occurrences o join schedules s on s.id = o.schedule_id
    where not o.acknowledged and o.ended_at <= ${until} and not exists (
      select from occurrences e where e.schedule_id = o.schedule_id and e.kind = o.kind and e.status = 'running' and e.id < o.id)
    order by o.id limit ${OCCURRENCES}`.execute(db);
  const [first] = rows;
  if (first === undefined) return false;
  const keys = rows.flatMap(({ due_at, attempt, ...row }) =>
    Array.from({ length: attempt }, (_, index) => keyOf({ ...row, dueAt: due_at.getTime() }, index + 1)),
  );
  const rpc = runtimeContract.rpcs['executions.acknowledge'];
  await bus.call(rpc, { occurrences: keys }, asSchedule(first.event, clock, signal));
  await sql`update occurrences set acknowledged = true where id = any(${rows.map(({ id }) => id)}::bigint[])`.execute(
    db,
  );
  return rows.length === OCCURRENCES;
}
