import {
  type EntryRandomness,
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
import type { RandomSource } from '../randomness/seed.js';
import { decideExecution } from './execute-event.js';
import {
  type CompiledDefinition,
  compileDefinition,
  type Decision,
  type InstanceView,
  type Seen,
} from './execution.js';
import { recordTimers } from './follow-ups.js';
import { seenOf } from './replayed-entry.js';

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
  const { v, evaluator, llmHash, error } = entry;
  if (v === 1) return 'version_1';
  if (evaluator !== EVALUATOR) return 'other_evaluator';
  if (definition === undefined) return 'no_definition';
  if (llmHash !== null || definition.mutationSettings?.mode !== 'direct') return 'model';
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

/** The deployment whose entries a what-if fork repeats. */
export interface ReplayedSource {
  readonly id: number;
  readonly address: string;
}

/** What was seen where a fork has replayed an entry. */
function seenAgain(
  { replayOf, decidedAt, executedAt }: HashedEntry,
  source: ReplayedSource | undefined,
): Seen | undefined {
  if (replayOf === undefined || source === undefined) return undefined;
  const { id: deploymentId, address: deployment } = source;
  const entry = { deploymentId, ...replayOf };
  return seenOf({ timestamp: decidedAt ?? executedAt, deployment, entry });
}

/**
 * Decides the execution of an entry again, on the instances as they were before it. The limits of then are not in the
 * entry, so none but the highest apply. Never throws.
 */
export const rerun = (
  entry: HashedEntry,
  definition: CompiledDefinition,
  { worldAddress, source }: { readonly worldAddress: string; readonly source?: ReplayedSource | undefined },
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
      walletAddress: walletOf(entry),
      now: Date.parse(entry.decidedAt ?? entry.executedAt),
      timestamp: entry.decidedAt ?? entry.executedAt,
      seen: seenAgain(entry, source),
      randomness: recordedSource(entry),
    },
    instances,
  );

/** The wallet that signed: the timers that its execution sets have it as their caller, and were not signed. */
const walletOf = ({ trigger, caller }: HashedEntry): string | null =>
  trigger === 'public' ? (/^wallet:(.*)$/s.exec(caller)?.[1] ?? null) : null;

/** What the entry drew from, to be drawn again. One that says nothing of it, and draws now, does not agree. */
const recordedSource = ({ randomness = UNSAID }: HashedEntry): RandomSource => ({ take: () => randomness });
const UNSAID: EntryRandomness = { source: 'replayed', seed: '0'.repeat(64) };

/**
 * Whether an entry says what was decided: the same changes, result and timers, or a failure of the same code; and what was
 * remembered.
 */
export function agrees(
  { id, status, changes, result, error, timers, readHistoryHash, randomness }: HashedEntry,
  decision: Exclude<Decision, { kind: 'needs' }>,
): boolean {
  if (decision.kind !== 'refused') {
    const { recorded } = decision;
    if (recorded?.readHistoryHash !== readHistoryHash || recorded?.randomness !== randomness) return false;
  }
  if (decision.kind !== 'succeeded')
    return status === 'failed' && error?.code === decision.error.code && timers === undefined;
  const decided = decision.changes.map(journalled) as unknown as JsonValue;
  return (
    status === 'succeeded' &&
    sameJson(decided, changes as unknown as JsonValue) &&
    sameJson(decision.result, result as JsonValue) &&
    sameJson(recordTimers(id, decision.followUps ?? []) as unknown as JsonValue, (timers ?? []) as never)
  );
}
