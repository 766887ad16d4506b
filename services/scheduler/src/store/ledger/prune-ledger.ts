import { sql } from 'kysely';
import type { Db } from '../tables/schema.js';

/** Rows that one statement reads. */
const AT_ONCE = 1000;

/**
 * Keeps ledgers bounded. Rows are read in the order in which they were made, up to the first that is not old: what stays of
 * the older ones is the last occurrence of each schedule, and what has not ended. Of a deployment that is gone nothing stays,
 * and once its schedules have no rows they go too. Each call prunes some of what was made before a time, in milliseconds, and
 * resolves with whether there may be more.
 */
export function createPruning(db: Db): (before: number) => Promise<boolean> {
  const rows = createPass((after, before) => pruneLedger(db, after, before));
  const schedules = createPass((after) => removeEnded(db, after));
  return async (before) => (await rows(before)) || schedules(before);
}

interface Step {
  readonly last: number;
  readonly mayBeMore: boolean;
}

/** Goes through a table by its ids, some at each call; resolves with whether it has not come to the end. */
function createPass(step: (after: number, before: number) => Promise<Step>) {
  let after = 0;
  return async (before: number): Promise<boolean> => {
    const { last, mayBeMore } = await step(after, before);
    after = mayBeMore ? last : 0;
    return mayBeMore;
  };
}

/** Reads rows with ids above `after`; removes those that were made before a time, in milliseconds. */
async function pruneLedger(db: Db, after: number, before: number): Promise<Step> {
  const { rows } = await sql<{ seen: number; last: number | null; all_old: boolean | null }>`
    with seen as materialized (
      select id, started_at < ${new Date(before)} as is_old from occurrences
      where id > ${after} order by id limit ${AT_ONCE}
    ), old as materialized (
      select o.id from occurrences o join seen on seen.id = o.id
      where seen.is_old and o.status <> 'running' and o.acknowledged and not (o.kind = 'pause' and o.until is null)
        and (
          exists (
            select from occurrences later where later.schedule_id = o.schedule_id and later.kind <> 'pause'
              and (later.due_at, later.id) > (o.due_at, o.id)
          )
          or exists (select from schedules s where s.id = o.schedule_id and ${isOfNone})
        )
      order by o.id for update of o skip locked
    ), removed as (
      delete from occurrences where id in (select id from old)
    )
    select count(*) as seen, max(id) as last, bool_and(is_old) as all_old from seen`.execute(db);
  const [{ seen, last, all_old } = { seen: 0, last: null, all_old: null }] = rows;
  return { last: last ?? 0, mayBeMore: seen === AT_ONCE && all_old === true };
}

/** Of a schedule `s`: its deployment was deleted, or the runtime does not know it any more. */
const isOfNone = sql<boolean>`
  s.binding_id is null
  and not exists (select from deployments d where d.address = s.deployment and not d.is_deleted)`;

/** Reads schedules with ids above `after`; removes those of deleted deployments whose ledgers are empty. */
async function removeEnded(db: Db, after: number): Promise<Step> {
  const { rows } = await sql<{ seen: number; last: number | null }>`
    with seen as materialized (
      select id from schedules where id > ${after} order by id limit ${AT_ONCE}
    ), ended as materialized (
      select s.id from schedules s join seen on seen.id = s.id
      where ${isOfNone} and not exists (select from occurrences o where o.schedule_id = s.id)
      order by s.id for update of s skip locked
    ), removed as (
      delete from schedules where id in (select id from ended)
    )
    select count(*) as seen, max(id) as last from seen`.execute(db);
  const [{ seen, last } = { seen: 0, last: null }] = rows;
  return { last: last ?? 0, mayBeMore: seen === AT_ONCE };
}
