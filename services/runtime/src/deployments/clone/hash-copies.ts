import type { JsonObject } from '@orrery/contracts';
import type { Trx } from '../../database/db.js';
import { snapshotHasher } from '../../journal/snapshot.js';

/** States in memory at once. */
const AT_ONCE = 50;

/** The `snapshotHash` of a clone, over the kept states of seq 0 that it begins with. */
export async function hashCopies(trx: Trx, deploymentId: number): Promise<string> {
  const hasher = snapshotHasher();
  let after = { entitySchema: '', instanceId: '' };
  for (;;) {
    const page = await copiesAfter(trx, deploymentId, after);
    for (const { state, ...name } of page) {
      // What a clone begins with exists.
      hasher.add({ ...name, state: state as JsonObject });
      after = name;
    }
    if (page.length < AT_ONCE) return hasher.digest();
  }
}

const copiesAfter = (trx: Trx, deploymentId: number, after: { entitySchema: string; instanceId: string }) =>
  trx
    .selectFrom('kept_states')
    .select(['entity_schema as entitySchema', 'instance_id as instanceId', 'state'])
    .where('deployment_id', '=', deploymentId)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('entity_schema', 'instance_id'), '>', tuple(after.entitySchema, after.instanceId)),
    )
    .orderBy('entity_schema')
    .orderBy('instance_id')
    .limit(AT_ONCE)
    .execute();
