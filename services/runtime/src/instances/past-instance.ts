import { type InstanceRecord, ServiceError } from '@orrery/contracts';
import { sql } from 'kysely';
import type { Db } from '../database/db.js';
import { headOf } from '../journal/journal-store.js';
import { pastStates } from '../journal/past-states.js';
import { instanceNotFound, onlySchema } from './instance-rules.js';
import { findInstance, schemasWith } from './instance-store.js';
import type { InstancePath } from './write-items.js';

/**
 * An instance as it was after entry `seq`. Its id and times are those of the row that it has now; one that is gone
 * shows the time of the last change as both, and id 0. @throws `entity_instance_not_found`, `ambiguous_instance`
 */
export async function instanceAt(
  db: Db,
  deploymentId: number,
  { instanceId, entitySchema }: InstancePath,
  seq: number,
): Promise<InstanceRecord> {
  const { seq: head } = await headOf(db, deploymentId);
  if (seq > head) throw new ServiceError('entity_instance_not_found', `The journal ends at ${head}.`);
  const schemas =
    entitySchema === undefined ? await schemasEverWith(db, deploymentId, instanceId) : [entitySchema];
  const names = schemas.map((schema) => ({ entitySchema: schema, instanceId }));
  const states = await pastStates(db, deploymentId, names, seq);
  const schema = onlySchema(
    schemas.filter((_, index) => states[index] !== null),
    { instanceId, entitySchema },
  );
  const past = states[schemas.indexOf(schema)];
  if (!past) throw instanceNotFound({ instanceId, entitySchema });
  const row = await findInstance(db, deploymentId, schema, instanceId);
  const at = past.changedAt ?? row?.created_at ?? new Date(0);
  return {
    id: row?.id ?? 0,
    entitySchema: schema,
    instanceId,
    state: past.state,
    revision: past.revision,
    createdAt: (row?.created_at ?? at).toISOString(),
    updatedAt: at.toISOString(),
  };
}

/** Schemas that have or had an instance of this key; looks at each schema once, not at each change. */
async function schemasEverWith(db: Db, deploymentId: number, instanceId: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with recursive schemas (name) as (
      select min(entity_schema) from instance_changes where deployment_id = ${deploymentId}
      union all
      select (select min(entity_schema) from instance_changes
        where deployment_id = ${deploymentId} and entity_schema > schemas.name)
      from schemas where schemas.name is not null
    )
    select name from schemas where exists (select from instance_changes
      where deployment_id = ${deploymentId} and entity_schema = name and instance_id = ${instanceId})`.execute(
    db,
  );
  const now = await schemasWith(db, deploymentId, instanceId);
  return [...new Set([...rows.map(({ name }) => name), ...now])].sort();
}
