import { fieldProblem, type NewDeployment, parseReference, ServiceError } from '@orrery/contracts';
import type { Db } from '../../database/db.js';
import { headOf } from '../../journal/journal-store.js';

/** The deployment that a new one begins as a copy of. */
export interface CloneSource {
  readonly id: number;
  readonly address: string;
  /** The entry after which the instances are taken; `undefined`: as they are now. */
  readonly seq: number | undefined;
}

/**
 * Finds the source of a clone: of the same world and account. What is foreign, deleted or elsewhere looks absent.
 * @throws `unknown_deployment`, `validation_failed` for a `sourceSeq` that its journal has not reached
 */
export async function findCloneSource(
  db: Db,
  home: { worldId: number; ownerAccountId: number },
  { sourceDeployment, sourceSeq }: NewDeployment,
): Promise<CloneSource | null> {
  if (sourceDeployment === undefined) {
    if (sourceSeq === undefined) return null;
    throw badSeq('it says where in the journal of `sourceDeployment`, which is missing');
  }
  const source = await readSource(db, home, sourceDeployment);
  if (source === undefined) throw unknownDeployment();
  if (sourceSeq === undefined) return { ...source, seq: undefined };
  const { seq } = await headOf(db, source.id);
  if (sourceSeq > seq) throw badSeq(`the journal ends at ${seq}`);
  return { ...source, seq: sourceSeq };
}

async function readSource(
  db: Db,
  { worldId, ownerAccountId }: { worldId: number; ownerAccountId: number },
  given: string,
): Promise<{ id: number; address: string } | undefined> {
  const reference = parseReference(given);
  if (reference === undefined) return undefined;
  return db
    .selectFrom('deployments')
    .select(['id', 'address'])
    .where((where) =>
      'id' in reference ? where('id', '=', reference.id) : where('address', '=', reference.address),
    )
    .where('world_id', '=', worldId)
    .where('owner_account_id', '=', ownerAccountId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

const unknownDeployment = () =>
  new ServiceError('unknown_deployment', 'you have no such deployment in this world', {
    errors: [fieldProblem('/sourceDeployment', 'unknown_deployment', 'no deployment of yours in this world')],
  });

const badSeq = (message: string) =>
  new ServiceError('validation_failed', `/sourceSeq: ${message}`, {
    errors: [fieldProblem('/sourceSeq', 'out_of_range', message)],
  });
