import {
  EVALUATOR,
  type HashedEntry,
  type JsonObject,
  type JsonValue,
  type KeptDefinition,
  keptDefinition,
  MOST_CONTENT,
  type NotRerun,
} from '@orrery/contracts';
import { journalled, sameJson } from '../entries/entry.js';
import { decideExecution } from './execute-event.js';
import { type CompiledDefinition, compileDefinition, type Decision, type InstanceView } from './execution.js';

/** Failures that the rules alone decide. Any other came from outside: a payment, a limit of the operator, a deadline. */
const DECIDED: ReadonlySet<string> = new Set([
  'template_failed',
  'operator_type_mismatch',
  'change_not_allowed',
  'invalid_change_key',
  'invalid_state',
  'invalid_result',
  'unknown_entity_schema',
  'read_set_too_large',
]);

/** Why the execution of an entry cannot be decided again; undefined: it can. */
export function notRerunnable(
  entry: HashedEntry,
  definition: KeptDefinition | undefined,
): NotRerun | undefined {
  const { v, evaluator, llmHash, randomness, timers, error } = entry;
  if (v === 1) return 'version_1';
  if (evaluator !== EVALUATOR) return 'other_evaluator';
  if (definition === undefined) return 'no_definition';
  if (llmHash !== null || definition.mutationSettings?.mode !== 'direct') return 'model';
  if (randomness !== undefined || timers !== undefined) return 'recorded';
  if (Object.keys(definition).some((member) => !(member in keptDefinition.shape))) return 'unknown_members';
  return error !== null && !DECIDED.has(error.code) ? 'outside' : undefined;
}

/** A kept definition as executions use it: rows of the catalog that it came from are no part of a decision. */
export const compileKept = ({ schemas, ...kept }: KeptDefinition): CompiledDefinition =>
  compileDefinition({
    ...kept,
    ...{ worldId: 0, eventId: 0, versionId: 0, version: 0, isLocked: true, hash: kept.versionHash },
    schemas: Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [name, { ...schema, schemaId: 0 }]),
    ),
  });

/**
 * Decides the execution of an entry again, on the instances as they were before it. The limits of then are not in the
 * entry, so none but the highest apply. Never throws.
 */
export const rerun = (
  entry: HashedEntry,
  definition: CompiledDefinition,
  { worldAddress }: { readonly worldAddress: string },
  instances: InstanceView,
): Decision =>
  decideExecution(
    {
      definition,
      deployment: { address: entry.deployment, worldAddress },
      instanceCount: { before: 0, limit: Number.MAX_SAFE_INTEGER },
      limits: MOST_CONTENT,
      event: entry.event ?? '',
      input: entry.input as JsonObject,
      caller: { kind: 'service', service: 'runtime' },
      trigger: entry.trigger ?? 'admin',
      walletAddress: walletOf(entry.caller),
      now: Date.parse(entry.decidedAt ?? entry.executedAt),
      timestamp: entry.decidedAt ?? entry.executedAt,
    },
    instances,
  );

const walletOf = (caller: string): string | null => /^wallet:(.*)$/s.exec(caller)?.[1] ?? null;

/** Whether an entry says what was decided: the same changes and result, or a failure of the same code; and what was remembered. */
export function agrees(
  { status, changes, result, error, readHistoryHash }: HashedEntry,
  decision: Exclude<Decision, { kind: 'needs' }>,
): boolean {
  if (decision.kind !== 'refused' && decision.recorded?.readHistoryHash !== readHistoryHash) return false;
  if (decision.kind !== 'succeeded') return status === 'failed' && error?.code === decision.error.code;
  const decided = decision.changes.map(journalled) as unknown as JsonValue;
  return (
    status === 'succeeded' &&
    sameJson(decided, changes as unknown as JsonValue) &&
    sameJson(decision.result, result as JsonValue)
  );
}
