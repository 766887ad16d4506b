import { cutText, type InstanceRecord, ServiceError, spaceAround } from '@orrery/contracts';
import type { InstanceName } from '../journal/change.js';
import type { MemoryInstance } from '../state/instance-memory.js';

export const toRecord = (
  { entitySchema, instanceId }: InstanceName,
  { id, state, revision, createdAt, updatedAt }: MemoryInstance,
): InstanceRecord => ({
  id,
  entitySchema,
  instanceId,
  state,
  revision,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

/** No instance has this key. A space at its end is easily overlooked. */
export function instanceNotFound({
  instanceId,
  entitySchema,
}: {
  readonly instanceId: string;
  readonly entitySchema?: string | undefined;
}): ServiceError {
  const ofSchema = entitySchema === undefined ? '' : ` of "${cutText(entitySchema, 255)}"`;
  const hint = instanceId.trim() === instanceId ? keyHint(instanceId) : ` ${spaceAround(instanceId)}`;
  return new ServiceError(
    'entity_instance_not_found',
    `The deployment has no instance "${cutText(instanceId, 255)}"${ofSchema}.${hint}`,
  );
}

/** For who has put the schema before the key, as changes do (`horse:HORSE_1`); a key may hold a colon, so it is only a hint. */
function keyHint(instanceId: string): string {
  const [, schema, key] = /^([^:]+):(.+)$/s.exec(instanceId) ?? [];
  if (schema === undefined || key === undefined) return '';
  const [path, query] = [key, schema].map((part) => encodeURIComponent(cutText(part, 255)));
  return ` A path takes the instanceId alone: …/entity-instances/${path}?entitySchema=${query}.`;
}

/** The one schema that has an instance of this key. @throws `entity_instance_not_found`, `ambiguous_instance` */
export function onlySchema(
  schemas: readonly string[],
  path: { readonly instanceId: string; readonly entitySchema?: string | undefined },
): string {
  const [only, ...others] = schemas;
  if (only === undefined) throw instanceNotFound(path);
  if (others.length === 0) return only;
  throw new ServiceError(
    'ambiguous_instance',
    `Several schemas have an instance of this key. Name one of ${schemas.join(', ')} in entitySchema.`,
    {
      facts: { entitySchemas: [...schemas] },
    },
  );
}

/** `"3"`, `W/"3"` or `3`; `*` is any. @throws `revision_mismatch` unless the instance has this revision. */
export function refuseOtherRevision(ifMatch: string | undefined, revision: number): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const given = ifMatch.split(',').map((tag) => /^(?:W\/)?"?([^"]*)"?$/.exec(tag.trim())?.[1]);
  if (given.includes(String(revision))) return;
  throw new ServiceError('revision_mismatch', `The instance has revision ${revision}.`, {
    facts: { revision },
  });
}

/** Pointers of the checks begin with `/schema:instanceId`; in the body of a manual write that is `/state`. */
export function inBody<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const errors = error.errors.map((problem) => ({
      ...problem,
      pointer: problem.pointer.replace(/^\/[^/]*/, '/state'),
    }));
    const [first] = errors;
    const detail = first === undefined ? error.message : `${first.pointer}: ${first.message}`;
    throw new ServiceError(error.code, detail, { errors, cause: error });
  }
}
