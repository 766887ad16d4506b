import { type JsonObject, ServiceError } from '@orrery/contracts';
import {
  type AppliedChange,
  type CheckedChanges,
  type CompiledSchema,
  checkEntrySize,
  checkStates,
  type ExecutionLimits,
  type InstanceState,
} from '@orrery/deciding';

/**
 * The change of a manual write, checked against the live schema: a creation fills in defaults, a replacement stores
 * exactly what is sent, `null` deletes. The contract has checked the instanceId. @throws `invalid_state`,
 * `entity_instance_not_found`
 */
export function decideManualWrite(
  schema: CompiledSchema,
  instanceId: string,
  before: InstanceState | null,
  state: JsonObject | null,
  limits: ExecutionLimits,
): CheckedChanges {
  const after = state === null || before !== null ? state : schema.withDefaults(state);
  const entitySchema = schema.definition.name;
  const applied: AppliedChange = { entitySchema, instanceId, schema, before, after, named: new Set() };
  if (before === null && after === null) throw new ServiceError('entity_instance_not_found');
  const changes = checkStates([applied], limits, { keepIdle: true });
  checkEntrySize({}, changes, null, limits);
  return changes;
}
