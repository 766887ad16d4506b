import { type HistorySearch, MEMORY_REACH, type PastEntry, type ReplayedEntry } from '@orrery/deciding';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../tables/schema.js';

/** What a search finds in a journal up to the entry `upTo`, newest first. */
interface RecentEntries {
  readonly upTo: number;
  readonly entries: PastEntry[];
}

/** The newest entries that the search finds, up to the last committed one, or to `before`. */
export async function readRecent(
  db: Db,
  deploymentId: number,
  search: HistorySearch,
  before?: number,
): Promise<RecentEntries> {
  const last =
    before === undefined
      ? sql<number>`(select seq from journal_heads where deployment_id = ${deploymentId})`
      : sql<number>`cast(${before} as bigint)`;
  const found =
    search.replays === undefined
      ? recorded(deploymentId, search, sql`h.seq`)
      : replayed(deploymentId, search, search.replays);
  const { rows } = await sql<{ head: number; entry: (PastEntry & { executedAt: string }) | null }>`
    select h.seq as head, to_jsonb(e) as entry
    from (select ${last} as seq) h
    left join lateral (${found} order by position desc limit ${search.last}) e on true
    order by e.position desc`.execute(db);
  const entries = rows.flatMap(({ entry }) =>
    entry === null ? [] : [{ ...entry, executedAt: new Date(entry.executedAt).toISOString() }],
  );
  return { upTo: rows[0]?.head ?? 0, entries };
}

/** Of an entry `j`. */
const COLUMNS =
  sql.raw(`j.seq, j.kind, j.event, j.status, j.trigger, j.caller, j.executed_at as "executedAt", j.input, j.changes,
  j.result, j.error, j.recorded -> 'replayOf' as "replayOf"`);

/** The executions of a journal up to the entry `last` that a search finds. */
const recorded = (deploymentId: number, search: HistorySearch, last: RawBuilder<unknown>) => sql`
  select j.seq as position, ${COLUMNS} from journal j
  where j.deployment_id = ${deploymentId} and j.kind = 'execution' and j.seq <= ${last}
    and j.seq > ${last} - ${MEMORY_REACH} ${narrowed(deploymentId, search, last)}`;

/** What a search says of the entry `j` beside its position. */
function narrowed(deploymentId: number, { events, instances }: HistorySearch, last: RawBuilder<unknown>) {
  const names = instances?.map((key) => [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)]);
  return sql`
    ${events === undefined ? sql`` : sql`and j.event = any(cast(${[...events]} as text[]))`}
    ${
      names === undefined
        ? sql``
        : sql`and j.seq in (
            select c.seq from jsonb_array_elements(cast(${JSON.stringify(names)} as jsonb)) name, instance_changes c
            where c.deployment_id = ${deploymentId} and c.entity_schema = name ->> 0 and c.instance_id = name ->> 1
              and c.seq > ${last} - ${MEMORY_REACH})`
    }`;
}

/**
 * The executions of the source before the entry that is replayed, without those that the fork has executed again up to its
 * entry `h.seq`; and these, each at the position of what it repeats. Of several that repeat one, the last counts.
 */
function replayed(forkId: number, search: HistorySearch, { deploymentId, seq }: ReplayedEntry) {
  const last = sql`${seq - 1}::bigint`;
  return sql`
    with again as materialized (
      select distinct on (position) position, seq from (
        select seq, (recorded -> 'replayOf' ->> 'seq')::bigint as position from journal
        where deployment_id = ${forkId} and kind = 'execution' and seq <= h.seq and recorded ? 'replayOf'
      ) f
      where position <= ${last} and position > ${last} - ${MEMORY_REACH}
      order by position, seq desc
    )
    select * from (
      (${recorded(deploymentId, search, last)} and j.seq not in (select position from again)
        order by j.seq desc limit ${search.last})
      union all
      (select a.position, ${COLUMNS} from again a
        join journal j on j.deployment_id = ${forkId} and j.seq = a.seq
        where true ${narrowed(forkId, search, sql`h.seq`)}
        order by a.position desc limit ${search.last})
    ) both_journals`;
}
