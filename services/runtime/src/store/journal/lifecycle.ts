import {
  type DeploymentLifecycle,
  INNER_KINDS,
  type JournalKind,
  type JsonObject,
  LIFECYCLE_KINDS,
  type LifecycleEntry,
  type LifecycleHead,
  type lifecycleRpcs,
  type RequestOf,
  ServiceError,
} from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { type Expression, type RawBuilder, sql } from 'kysely';
import { listBindings } from '../state/bindings.js';
import { isPaused } from '../state/deployment-state.js';
import type { Db, Trx } from '../tables/schema.js';

const listed = (kinds: readonly string[]): string => kinds.map((kind) => `'${kind}'`).join(', ');

/**
 * PostgreSQL uses the index `journal_lifecycle_alone` for exactly the first condition on the journal `j`. The second leaves out
 * kinds of a later release, of which this one cannot say what they are.
 */
const IS_LIFECYCLE: RawBuilder<boolean> = sql.raw(
  `j.kind not in (${listed(INNER_KINDS)}) and j.kind in (${listed([...LIFECYCLE_KINDS])})`,
);

/** A lateral table `e` with the seq and hash of a deployment's last lifecycle entry. */
export const lastLifecycle = (deploymentId: Expression<unknown>): RawBuilder<unknown> => sql`(
  select j.seq, j.hash from journal j where j.deployment_id = ${deploymentId} and ${IS_LIFECYCLE}
  order by j.seq desc limit 1
) e`;

/** Entries that are answered at most, the last ones. */
const MAX_ENTRIES = 200;
/** Bytes of their facts that are read at most, roughly: an entry may bind many events. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Everything as it was at one moment, from committed rows. @throws `deployment_not_found` */
export const readLifecycle = (
  db: Db,
  { deployment, after }: RequestOf<(typeof lifecycleRpcs)['lifecycle.read']>,
): Promise<Omit<DeploymentLifecycle, 'now'>> =>
  transaction(
    db,
    async (trx) => {
      const row = await trx
        .selectFrom('deployments')
        .selectAll()
        .where('address', '=', deployment)
        .executeTakeFirst();
      if (row === undefined) throw new ServiceError('deployment_not_found');
      const isDeleted = row.deleted_at !== null;
      const bindings = isDeleted ? [] : await listBindings(trx, row.id);
      return {
        deployment,
        worldId: row.world_id,
        worldAddress: row.world_address,
        isPaused: isPaused(row),
        isDeleted,
        bindings: bindings.map(({ id, event, versionId, eventVersion }) => ({
          bindingId: id,
          event,
          versionId,
          eventVersion,
        })),
        head: await lifecycleHeadOf(trx, row.id),
        afterHash: await hashAt(trx, row.id, after),
        entries: await entriesAfter(trx, row.id, after),
      };
    },
    { isolation: 'repeatable read' },
  );

/** Each journal begins with a lifecycle entry. */
export async function lifecycleHeadOf(db: Db, deploymentId: number): Promise<LifecycleHead> {
  const { rows } = await sql<LifecycleHead>`select * from ${lastLifecycle(sql.val(deploymentId))}`.execute(
    db,
  );
  const [head] = rows;
  if (head === undefined) throw new Error(`the journal of deployment ${deploymentId} is empty`);
  return head;
}

/** The hash of an entry; null where there is none. */
export async function hashAt(db: Db, deploymentId: number, seq: number): Promise<string | null> {
  const found = await db
    .selectFrom('journal')
    .select('hash')
    .where('deployment_id', '=', deploymentId)
    .where('seq', '=', seq)
    .executeTakeFirst();
  return found?.hash ?? null;
}

interface Row {
  readonly seq: number;
  readonly kind: JournalKind;
  readonly input: JsonObject;
  readonly executed_at: Date;
}

async function entriesAfter(trx: Trx, deploymentId: number, after: number): Promise<LifecycleEntry[]> {
  const { rows } = await sql<Row>`
    select seq, kind, input, executed_at from (
      select j.seq, j.kind, j.input, j.executed_at,
        sum(pg_column_size(j.input)) over (order by j.seq desc) as bytes
      from journal j where j.deployment_id = ${deploymentId} and j.seq > ${after} and ${IS_LIFECYCLE}
      order by j.seq desc limit ${MAX_ENTRIES}
    ) last where bytes < ${MAX_BYTES} order by seq`.execute(trx);
  return rows.map(({ seq, kind, input, executed_at }) => ({
    seq,
    // What `IS_LIFECYCLE` leaves.
    kind: kind as LifecycleEntry['kind'],
    events: eventsOf(input),
    ...versionsOf(input),
    cause: kind === 'paused' || kind === 'resumed' ? causeOf(input) : null,
    at: executed_at.toISOString(),
  }));
}

/** The entry's facts hold the bindings that it made or changed, or the names of the events that it unbound. */
function eventsOf({ bindings = [], events = [] }: JsonObject): string[] {
  const bound = (bindings as { event: string }[]).map(({ event }) => event);
  return [...bound, ...(events as string[])];
}

function versionsOf({ bindings }: JsonObject): Pick<LifecycleEntry, 'versions'> {
  if (bindings === undefined) return {};
  const bound = bindings as { event: string; eventVersion: number }[];
  return { versions: Object.fromEntries(bound.map(({ event, eventVersion }) => [event, eventVersion])) };
}

const causeOf = ({ by }: JsonObject): LifecycleEntry['cause'] =>
  by === 'account' || by === 'operator' ? by : 'owner';
