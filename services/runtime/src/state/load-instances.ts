import { type Batcher, createBatcher } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { Db } from '../database/db.js';
import type { InstanceName } from '../journal/change.js';
import type { InstanceMemory, MemoryInstance } from './instance-memory.js';
import { MAX_READ } from './instance-view.js';

interface InstanceRow {
  ordinal: number;
  instance_id: string;
  id: number;
  state: MemoryInstance['state'];
  revision: number;
  created_at: Date;
  updated_at: Date;
}

interface Wanted extends InstanceName {
  deploymentId: number;
}

/** Reads instances into memory; the requests of many items at the same time share one statement. */
export interface InstanceLoader {
  loadOne(deploymentId: number, memory: InstanceMemory, name: InstanceName): Promise<void>;
  /** All instances of a schema, unless there are more than one execution may read. */
  loadSchema(deploymentId: number, memory: InstanceMemory, entitySchema: string): Promise<void>;
}

/** Instances in one statement at most. */
const AT_ONCE = 500;

export function createInstanceLoader(db: Db): InstanceLoader {
  const single: Batcher<Wanted, MemoryInstance | null> = createBatcher({
    maxBatch: AT_ONCE,
    load: (wanted) => readEach(db, wanted),
  });
  return {
    loadOne: async (deploymentId, memory, { entitySchema, instanceId }) => {
      const found = await single({ deploymentId, entitySchema, instanceId });
      memory.learn(entitySchema, instanceId, found);
    },
    loadSchema: async (deploymentId, memory, entitySchema) => {
      memory.learnAll(entitySchema, await readSchema(db, deploymentId, entitySchema));
    },
  };
}

async function readEach(db: Db, wanted: readonly Wanted[]): Promise<(MemoryInstance | null)[]> {
  const { rows } = await sql<InstanceRow>`
    select w.ordinal::int as ordinal, i.instance_id, i.id, i.state, i.revision, i.created_at, i.updated_at
    from rows from (jsonb_to_recordset(cast(${JSON.stringify(wanted)} as jsonb))
      as ("deploymentId" bigint, "entitySchema" text, "instanceId" text)) with ordinality
      as w (deployment_id, entity_schema, instance_id, ordinal)
    join instances i using (deployment_id, entity_schema, instance_id)`.execute(db);
  const found = new Map(rows.map((row) => [row.ordinal - 1, instanceOf(row)]));
  return wanted.map((_, index) => found.get(index) ?? null);
}

async function readSchema(
  db: Db,
  deploymentId: number,
  entitySchema: string,
): Promise<Map<string, MemoryInstance>> {
  const { rows } = await sql<InstanceRow>`
    select 0 as ordinal, instance_id, id, state, revision, created_at, updated_at from instances
    where deployment_id = ${deploymentId} and entity_schema = ${entitySchema}
    order by id limit ${MAX_READ + 1}`.execute(db);
  return new Map(rows.map((row) => [row.instance_id, instanceOf(row)]));
}

const instanceOf = (row: InstanceRow): MemoryInstance => ({
  id: row.id,
  state: row.state,
  revision: row.revision,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
