import type { HashedEntry, JsonObject } from '@orrery/contracts';
import { sql } from 'kysely';
import { changeKey, type InstanceName } from '../../../core/entries/entry.js';
import type { Db } from '../../tables/schema.js';
import { HASHED_COLUMNS, hashedEntryOf } from '../journal-store.js';

/** A state from the fold, from a checkpoint or from the instance's row; `state` null: deleted or absent. */
export interface FoldedState {
  state: JsonObject | null;
  revision: number;
}

interface StoredInstance extends FoldedState {
  lastSeq: number;
}

const listed = (names: readonly InstanceName[]) => sql`
  unnest(${names.map(({ entitySchema }) => entitySchema)}::text[],
    ${names.map(({ instanceId }) => instanceId)}::text[]) n (entity_schema, instance_id)`;

/** By change key. Absent: no row and no change. */
export async function storedInstances(
  db: Db,
  deploymentId: number,
  names: readonly InstanceName[],
): Promise<Map<string, StoredInstance>> {
  const { rows } = await sql<
    Named & { state: JsonObject | null; revision: number | null; last_seq: number | null }
  >`
    select n.entity_schema, n.instance_id, i.state, i.revision,
      (select max(c.seq) from instance_changes c where c.deployment_id = ${deploymentId}
        and c.entity_schema = n.entity_schema and c.instance_id = n.instance_id) as last_seq
    from ${listed(names)}
    left join instances i on i.deployment_id = ${deploymentId}
      and i.entity_schema = n.entity_schema and i.instance_id = n.instance_id`.execute(db);
  return new Map(
    rows.map((row) => [
      keyOf(row),
      { state: row.state, revision: row.revision ?? 0, lastSeq: row.last_seq ?? 0 },
    ]),
  );
}

/** The checkpoints of these instances between two entries, by change key and `seq`. */
export async function checkpointsOf(
  db: Db,
  deploymentId: number,
  names: readonly InstanceName[],
  range: { from: number; to: number },
): Promise<Map<string, FoldedState>> {
  const { rows } = await sql<Named & FoldedState & { seq: number }>`
    select k.entity_schema, k.instance_id, k.seq, k.revision, k.state
    from ${listed(names)}
    join kept_states k on k.deployment_id = ${deploymentId} and k.entity_schema = n.entity_schema
      and k.instance_id = n.instance_id and k.seq between ${range.from} and ${range.to}`.execute(db);
  return new Map(
    rows.map((row) => [changeAt(keyOf(row), row.seq), { state: row.state, revision: row.revision }]),
  );
}

/** An instance's change in an entry, as a key of a map. */
export const changeAt = (key: string, seq: number): string => `${seq} ${key}`;

export function readChangeAt(at: string): { seq: number; instance: string } {
  const space = at.indexOf(' ');
  return { seq: Number(at.slice(0, space)), instance: at.slice(space + 1) };
}

/** Which entries of the range the index `instance_changes` has for these instances, as `changeAt` writes them. */
export async function indexedChanges(
  db: Db,
  deploymentId: number,
  names: readonly InstanceName[],
  range: { from: number; to: number },
): Promise<Set<string>> {
  const { rows } = await sql<Named & { seq: number }>`
    select c.entity_schema, c.instance_id, c.seq
    from ${listed(names)}
    join instance_changes c on c.deployment_id = ${deploymentId} and c.entity_schema = n.entity_schema
      and c.instance_id = n.instance_id and c.seq between ${range.from} and ${range.to}`.execute(db);
  return new Set(rows.map((row) => changeAt(keyOf(row), row.seq)));
}

interface Named {
  entity_schema: string;
  instance_id: string;
}
const keyOf = (row: Named): string =>
  changeKey({ entitySchema: row.entity_schema, instanceId: row.instance_id });

export interface StoredEntry {
  entry: HashedEntry;
  hash: string;
}

/** Entries of the first page: 4 MiB of the largest. */
export const SMALLEST_PAGE = 16;
const LARGEST_PAGE = 500;
/** Bytes of a page's entries, so that checking one page does not block the process. */
const PAGE_BYTES = 1024 * 1024;
/** Entries that are measured: a page's entries are much alike. */
const MEASURED = 16;

/** Up to `limit` entries from `from` on, in order. */
export async function readPage(
  db: Db,
  { id, address }: { id: number; address: string },
  from: number,
  limit: number,
): Promise<StoredEntry[]> {
  const rows = await db
    .selectFrom('journal')
    .select(HASHED_COLUMNS)
    .where('deployment_id', '=', id)
    .where('seq', '>=', from)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ entry: hashedEntryOf(row, address), hash: row.hash }));
}

/** How many entries to read next, judged by the last ones. */
export function nextPageSize(page: readonly StoredEntry[]): number {
  const measured = page.slice(-MEASURED);
  const bytes = measured.reduce(
    (sum, { entry }) => sum + JSON.stringify([entry.input, entry.changes]).length,
    0,
  );
  const average = Math.max(1, bytes / Math.max(1, measured.length));
  return Math.min(LARGEST_PAGE, Math.max(SMALLEST_PAGE, Math.floor(PAGE_BYTES / average)));
}

/** Consecutive entries, and the instances that they change. */
export interface EntryGroup {
  entries: StoredEntry[];
  names: ReadonlyMap<string, InstanceName>;
}

/** Instances of a group, unless one entry alone changes more (500 at most). */
const NAMES_IN_GROUP = 500;

/** Splits a page into groups whose instances are looked up together. */
export function groupEntries(entries: readonly StoredEntry[]): EntryGroup[] {
  const groups: { entries: StoredEntry[]; names: Map<string, InstanceName> }[] = [];
  for (const stored of entries) {
    const names = stored.entry.changes.map((change) => [changeKey(change), change] as const);
    const last = groups.at(-1);
    if (last === undefined || last.names.size + names.length > NAMES_IN_GROUP) {
      groups.push({ entries: [stored], names: new Map(names) });
      continue;
    }
    last.entries.push(stored);
    for (const [key, name] of names) last.names.set(key, name);
  }
  return groups;
}
