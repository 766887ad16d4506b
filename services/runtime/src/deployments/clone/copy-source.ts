import { type DeploymentSource, ServiceError } from '@orrery/contracts';
import { sql } from 'kysely';
import { listBindings } from '../../bindings/binding-store.js';
import type { Trx } from '../../database/db.js';
import { tooManyInstances } from '../../execution/check-changes.js';
import { headOf } from '../../journal/journal-store.js';
import type { ClaimedCopies } from './claim-copies.js';
import { copyInstances } from './copy-instances.js';
import { hashCopies } from './hash-copies.js';

/** What was claimed is no longer what there is to copy: claim and copy anew. */
export class SourceChanged extends Error {
  override readonly name = 'SourceChanged';
}

export interface Copied {
  readonly source: DeploymentSource;
  readonly instances: number;
}

/**
 * Copies into the new deployment what its source is in this transaction's one snapshot, so the transaction reads
 * repeatably. @throws SourceChanged, `unknown_deployment`, `limit_reached`
 */
export async function copySource(
  trx: Trx,
  copies: ClaimedCopies,
  target: { id: number; at: Date },
  limits: { readonly instancesPerDeployment: number },
): Promise<Copied> {
  const { source, schemas } = copies;
  await refuseChanged(trx, copies);
  const { seq } = await headOf(trx, source.id);
  const instances = await copyInstances(trx, source, target);
  if (instances > limits.instancesPerDeployment) throw tooManyInstances(limits.instancesPerDeployment);
  await claimCopied(trx, target.id, schemas);
  const snapshotHash = await hashCopies(trx, target.id);
  return { source: { address: source.address, seq: source.seq ?? seq, snapshotHash }, instances };
}

async function refuseChanged(trx: Trx, { source, sourceBindings }: ClaimedCopies): Promise<void> {
  const still = await trx
    .selectFrom('deployments')
    .select('id')
    .where('id', '=', source.id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (still === undefined) throw new ServiceError('unknown_deployment');
  const bindings = await listBindings(trx, source.id);
  if (JSON.stringify(bindings) !== JSON.stringify(sourceBindings)) throw new SourceChanged();
}

/** The catalog keeps the schemas of the copied instances for the clone too. */
async function claimCopied(
  trx: Trx,
  deploymentId: number,
  schemas: ReadonlyMap<string, number>,
): Promise<void> {
  const claims = [...schemas].map(([name, id]) => ({ name, id }));
  await sql`
    insert into claimed_schemas (deployment_id, entity_schema, schema_id)
    select ${deploymentId}, name, id
    from jsonb_to_recordset(cast(${JSON.stringify(claims)} as jsonb)) as claim (name text, id bigint)
    where exists (select from instances i where i.deployment_id = ${deploymentId} and i.entity_schema = name)`.execute(
    trx,
  );
  const { rows } = await sql`
    select from instances where deployment_id = ${deploymentId} and not entity_schema = any(${[...schemas.keys()]})
    limit 1`.execute(trx);
  if (rows.length > 0) throw new SourceChanged();
}
