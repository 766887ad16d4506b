import {
  canonicalHash,
  type EntryRandomness,
  EVALUATOR,
  type HashedEntry,
  type InstanceChange,
  isEvaluator,
  type JsonObject,
  type JsonValue,
  type KeptDefinition,
  keptDefinition,
  MOST_CONTENT,
  type NotRerun,
} from '@orrery/contracts';
import { journalled, sameJson } from '../entries/entry.js';
import { inOrderOfKeys } from '../execution/apply-proposal.js';
import { decideExecution } from '../execution/execute-event.js';
import {
  type CompiledDefinition,
  compileDefinition,
  type Decision,
  type Execution,
  type InstanceView,
  type Seen,
} from '../execution/execution.js';
import { recordTimers } from '../execution/follow-ups.js';
import type { RandomSource } from '../randomness/seed.js';
import { isFailedOutside } from './outside.js';

/** Why the execution of an entry cannot be decided again; undefined: it can. Of `model` the answer may be applied again. */
export function notRerunnable(
  entry: HashedEntry,
  definition: KeptDefinition | undefined,
): NotRerun | undefined {
  const { v, evaluator, llmHash, error } = entry;
  if (v === 1) return 'version_1';
  if (!isEvaluator(evaluator)) return 'other_evaluator';
  if (definition === undefined) return 'no_definition';
  if (Object.keys(definition).some((member) => !(member in keptDefinition.shape))) return 'unknown_members';
  if (llmHash !== null || definition.mutationSettings?.mode !== 'direct') return 'model';
  if (error === null) return undefined;
  return isFailedOutside(error) ? 'outside' : undefined;
}

/** Whether a definition is the one that its hash names: all of it, its schemas included (docs/history.md "Decisions"). */
export const isDefinitionOf = (definition: KeptDefinition, hash: string): boolean =>
  definition.versionHash === hash &&
  hashOfDefinition(definition) === hash &&
  Object.entries(definition.schemas).every(
    ([key, { name, attributes, hash: named }]) =>
      key === name && hashOfRecord({ name, attributes }) === named,
  );

/** The `versionHash` of a definition with these schemas. */
export function hashOfDefinition({
  event: _,
  versionHash: _hash,
  schemas,
  ...content
}: KeptDefinition): string {
  const hashes = Object.entries(schemas).map(([name, { hash }]) => [name, hash]);
  return hashOfRecord({ ...content, schemas: Object.fromEntries(hashes) });
}

/** For records that came from JSON: their types lack the index signature of JSON objects. */
const hashOfRecord = (record: object): string => canonicalHash(record as JsonObject);

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
  /** For the service, which remembers what stands there; any number for others. */
  readonly id: number;
  readonly address: string;
}

export interface PlaceOfWorld {
  readonly worldAddress: string;
  readonly source?: ReplayedSource | undefined;
}

/** What was seen where a fork has replayed an entry. */
function seenAgain(
  { replayOf, decidedAt, executedAt }: HashedEntry,
  source: ReplayedSource | undefined,
): Seen | undefined {
  if (replayOf === undefined || source === undefined) return undefined;
  const timestamp = decidedAt ?? executedAt;
  const replays = { deploymentId: source.id, seq: replayOf.seq };
  return { now: Date.parse(timestamp), timestamp, address: source.address, replays };
}

/** The execution of an entry. The limits of then are not in the entry, so the highest apply: what failed at a lower one is not decided again. */
export const executionOf = (
  entry: HashedEntry,
  definition: CompiledDefinition,
  { worldAddress, source }: PlaceOfWorld,
): Execution => ({
  evaluator: isEvaluator(entry.evaluator) ? entry.evaluator : EVALUATOR,
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
});

/** Decides the execution of an entry again, on the instances as they were before it. Never throws. */
export const rerun = (
  entry: HashedEntry,
  definition: CompiledDefinition,
  place: PlaceOfWorld,
  instances: InstanceView,
): Decision => decideExecution(executionOf(entry, definition, place), instances);

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
export function agrees(entry: HashedEntry, decision: Exclude<Decision, { kind: 'needs' }>): boolean {
  const { id, status, result, error, readHistoryHash, randomness, timers, llmHash } = entry;
  // What a model was told of the past is not read again.
  const recalled = llmHash === null ? readHistoryHash : undefined;
  if (decision.kind !== 'refused') {
    const { recorded } = decision;
    if (recorded?.readHistoryHash !== recalled || recorded?.randomness !== randomness) return false;
  }
  if (decision.kind !== 'succeeded')
    return status === 'failed' && error?.code === decision.error.code && timers === undefined;
  return (
    status === 'succeeded' &&
    sameChanges(entry, decision.changes.map(journalled)) &&
    sameJson(decision.result, result as JsonValue) &&
    sameJson(recordTimers(id, decision.followUps ?? []) as unknown as JsonValue, (timers ?? []) as never)
  );
}

/** By revision 1 of the rules in any order. */
function sameChanges({ changes, evaluator }: HashedEntry, decided: readonly InstanceChange[]): boolean {
  const comparable = (some: readonly InstanceChange[]) =>
    (evaluator === 1 ? inOneOrder(some) : some) as unknown as JsonValue;
  return sameJson(comparable(decided), comparable(changes));
}

/**
 * In revision 1 changes come in the order of the members of a template or an answer, and what they unset in the order of a
 * state's members: no hash covers these orders, and no store keeps them.
 */
const inOneOrder = (changes: readonly InstanceChange[]): readonly InstanceChange[] =>
  inOrderOfKeys(
    changes.map((change) =>
      change.unset.length < 2 ? change : { ...change, unset: change.unset.toSorted() },
    ),
  );
