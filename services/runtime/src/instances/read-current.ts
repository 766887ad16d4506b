import { type PreparedStatement, prepared } from '@orrery/database';
import { type Batcher, createBatcher } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import { onlySchema } from './instance-rules.js';
import { type InstanceRow, schemasWith } from './instance-store.js';

/** An instance of a deployment by its key, and by its schema where it is known. */
export interface CurrentRead {
  readonly deploymentId: number;
  readonly instanceId: string;
  readonly entitySchema: string | undefined;
}

/** What is committed now. A deployment that was deleted has no answer. */
export interface Current {
  readonly isPublic: boolean;
  readonly instance: InstanceRow | undefined;
}

type Row = { place: number; is_public: boolean } & {
  [Column in keyof InstanceRow]: InstanceRow[Column] | null;
};

/**
 * Each place is looked up by itself, so the plan stays one of look-ups by key. A second row says that several schemas
 * have an instance of the key.
 */
export const CURRENT_INSTANCES = `
select w.place, d.is_public, i.*
from unnest($1::bigint[], $2::text[], $3::text[]) with ordinality as w (deployment_id, instance_id, entity_schema, place)
join lateral (
  select is_public from deployments where id = w.deployment_id and deleted_at is null limit 1
) d on true
left join lateral (
  select id, entity_schema, instance_id, state, revision, created_at, updated_at from instances
  where deployment_id = w.deployment_id and instance_id = w.instance_id
    and (w.entity_schema is null or entity_schema = w.entity_schema) limit 2
) i on true`;

const currentInstances: PreparedStatement<Row> = prepared('current-instances', CURRENT_INSTANCES);

/** States have up to 64 KiB. */
const AT_ONCE = 64;
const MAX_WAITING = 2000;

export type ReadCurrent = (read: CurrentRead) => Promise<Current | undefined>;

/**
 * Reads instances as committed, many with one statement: what is asked while one is under way shares the next.
 * @throws `ambiguous_instance`; `overloaded` when too many wait
 */
export function createReadCurrent(db: Db): ReadCurrent {
  const read: Batcher<CurrentRead, Row[]> = createBatcher({
    maxBatch: AT_ONCE,
    maxWaiting: MAX_WAITING,
    keyOf: ({ deploymentId, entitySchema, instanceId }) =>
      `${deploymentId} ${entitySchema ?? ''} ${instanceId}`,
    load: (reads) => readAll(db, reads),
  });
  return async (wanted) => {
    const [row, second] = await read(wanted);
    if (row === undefined) return undefined;
    if (second !== undefined)
      onlySchema(await schemasWith(db, wanted.deploymentId, wanted.instanceId), wanted);
    return { isPublic: row.is_public, instance: row.id === null ? undefined : (row as InstanceRow) };
  };
}

async function readAll(db: Db, reads: readonly CurrentRead[]): Promise<Row[][]> {
  const rows = await currentInstances(db, [
    reads.map(({ deploymentId }) => deploymentId),
    reads.map(({ instanceId }) => instanceId),
    reads.map(({ entitySchema }) => entitySchema ?? null),
  ]);
  const found: Row[][] = reads.map(() => []);
  for (const row of rows) found[row.place - 1]?.push(row);
  return found;
}
