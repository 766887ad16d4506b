import { type ErrorReply, type JsonValue, type OnceKey, readOccurrenceKey } from '@orrery/contracts';
import { prepared } from '@orrery/database';
import { type AnsweringEntry, answerOf } from '@orrery/deciding';
import { type Clock, createBatcher, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { type Selectable, sql } from 'kysely';
import type { Db, RuntimeSchema } from '../tables/schema.js';

type Row = Selectable<RuntimeSchema['once_keys']>;

/** A once-key that is in use. `reply` is null while its run is under way. */
export type UsedKey = Pick<Row, 'scope' | 'key' | 'request_hash' | 'deployment_id' | 'run_id' | 'reply'> & {
  /** Its outcome was acknowledged and is forgotten; only `scope` and `key` say something. */
  readonly isForgotten?: boolean;
};

/** What is stored under a key: the answer of its execution, or the error of a failed one. */
export type StoredOutcome = { readonly reply: JsonValue } | { readonly error: ErrorReply };

type KeyName = Pick<OnceKey, 'key'> & { readonly scope: string };

const names = (keys: readonly KeyName[]) =>
  sql`(scope, key) in (select * from unnest(${keys.map(({ scope }) => scope)}::text[], ${keys.map(({ key }) => key)}::text[]))`;

type FoundRow = UsedKey &
  Pick<Row, 'seq'> & {
    readonly is_expired: boolean;
    readonly entry: (AnsweringEntry & { readonly targetChains: string[] }) | null;
  };

// Each key is looked up by itself, so that the plan is right however large the table is. Planning would cost several times
// what looking up costs.
const USED_KEYS = `
  select k.scope, k.key, k.request_hash, k.deployment_id, k.run_id, k.seq, k.reply,
    coalesce(k.expires_at < now(), false) as is_expired, false as "isForgotten",
    case when j.seq is not null then jsonb_build_object('id', j.id, 'seq', j.seq, 'event', j.event,
      'eventVersion', j.event_version, 'changes', j.changes, 'result', j.result, 'attestation', j.attestation,
      'targetChains', coalesce(j.pushes->'targetChains', '[]')) end as entry
  from unnest($1::text[], $2::text[]) as named (scope, key)
  cross join lateral (
    select scope, key, request_hash, deployment_id, run_id, seq, reply, expires_at from once_keys o
    where o.scope = named.scope and o.key = named.key limit 1
  ) k
  left join journal j on j.deployment_id = k.deployment_id and j.seq = k.seq
  union all
  select 'occurrence', named.key, '', 0, null, null, null, false, true, null
  from jsonb_to_recordset($3::jsonb) as named (key text, deployment text, event text, kind text, position bigint)
  cross join lateral (
    select until from acknowledged_occurrences a
    where a.deployment = named.deployment and a.event = named.event and a.kind = named.kind limit 1
  ) a
  where a.until >= named.position
    and not exists (select from once_keys o where o.scope = 'occurrence' and o.key = named.key)`;
const usedKeys = prepared<FoundRow>('used-keys', USED_KEYS);

/** The keys that are in use, whichever deployment uses them. Expired ones are removed: they are free. */
export async function readUsedKeys(db: Db, keys: readonly KeyName[]): Promise<UsedKey[]> {
  const occurrences = positionsOf(keys.filter(({ scope }) => scope === 'occurrence').map(({ key }) => key));
  const named = [keys.map(({ scope }) => scope), keys.map(({ key }) => key), JSON.stringify(occurrences)];
  const rows = await usedKeys(db, named);
  if (rows.some((row) => row.is_expired))
    await sql`delete from once_keys where ${names(keys)} and expires_at < now()`.execute(db);
  return rows.filter((row) => !row.is_expired).map(usedKey);
}

/** A message that has succeeded is answered from its entry, which never changes. */
function usedKey({ entry, ...row }: FoundRow): UsedKey {
  if (row.seq === null) return row;
  if (entry === null) throw new Error('a once-key names a journal entry that is not there');
  const reply: StoredOutcome = { reply: { ...answerOf(entry, entry.targetChains) } };
  return { ...row, reply };
}

/** Keys that are read with one query. */
const KEYS_AT_ONCE = 500;

/** Finds the use of a key, together with those that other requests look for; each query waits for `ready` first. */
export function createUsedKeys(
  db: Db,
  ready: () => Promise<void> | undefined,
): (key: KeyName) => Promise<UsedKey | undefined> {
  const keyOf = ({ scope, key }: KeyName) => `${scope} ${key}`;
  const load = async (keys: readonly KeyName[]) => {
    const used = new Map((await readUsedKeys(db, keys)).map((row) => [keyOf(row), row]));
    return keys.map((key) => used.get(keyOf(key)));
  };
  return createBatcher({ maxBatch: KEYS_AT_ONCE, load, keyOf, ready });
}

/** Where keys of occurrences stand in their schedules; those that no schedule made are left out. */
const positionsOf = (keys: readonly string[]) =>
  keys.flatMap((key) => {
    const read = readOccurrenceKey(key);
    return read === undefined ? [] : [{ key, ...read }];
  });

/**
 * Removes occurrences whose execution has ended, and notes how far each schedule is, so that none of them can be executed
 * any more.
 */
export async function acknowledgeOccurrences(db: Db, occurrences: readonly string[]): Promise<void> {
  const keys = occurrences.map((key) => ({ scope: 'occurrence', key }));
  await sql`
    with noted as (
      insert into acknowledged_occurrences as a (deployment, event, kind, until)
      select deployment, event, kind, max(position)
      from jsonb_to_recordset(cast(${JSON.stringify(positionsOf(occurrences))} as jsonb))
        as g (deployment text, event text, kind text, position bigint)
      group by 1, 2, 3 order by 1, 2, 3
      on conflict (deployment, event, kind) do update set until = greatest(a.until, excluded.until)
    )
    delete from once_keys where ${names(keys)} and reply is not null`.execute(db);
}

/** Frees the keys of a run that ends without a lane. */
export const releaseKeysOf = (db: Db, runId: string) =>
  db.deleteFrom('once_keys').where('run_id', '=', runId).where('reply', 'is', null).execute();

const KEYS_PER_RUN = 1000;

export const startOnceKeySweep = (
  db: Db,
  options: { readonly clock: Clock; readonly logger: Logger; readonly intervalMs: number },
): PollLoop =>
  startPollLoop({
    name: 'once-key sweep',
    ...options,
    runOnce: async () => ((await deleteExpiredOnceKeys(db, KEYS_PER_RUN)) === KEYS_PER_RUN ? 'more' : 'idle'),
  });

/** Removes up to `limit` expired keys, and resolves with how many it removed. */
export async function deleteExpiredOnceKeys(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from once_keys where (scope, key) in (
      select scope, key from once_keys where expires_at < now() order by expires_at limit ${limit}
    ) and expires_at < now()`.execute(db);
  return Number(numAffectedRows ?? 0);
}
