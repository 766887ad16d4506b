import type { components } from '../generated/api.js';
import type { HistoryEntry } from '../journal/journal.js';
import { canonicalJson, keyOf } from '../verification/hash-chain.js';

export type ReplayAnswer = components['schemas']['ReplayAnswer'];

/**
 * What differs between an entry and its replay. `version`, `definition` (the same version was another then), `input` and
 * `model` are causes; the others are outcomes, and where one of them differs the histories part.
 */
export type Difference = Cause | Outcome;
type Cause = 'version' | 'definition' | 'input' | 'model';
type Outcome = 'refused' | 'status' | 'changes' | 'result' | 'error';

const CAUSES: ReadonlySet<Difference> = new Set<Cause>(['version', 'definition', 'input', 'model']);

/** Whether these differences are more than causes. */
export const partsIn = (differences: readonly Difference[]): boolean =>
  differences.some((difference) => !CAUSES.has(difference));

/** How an entry differs from what it has become in the fork. Revisions count anew in a fork and are not compared. */
export function differencesOf(
  original: HistoryEntry,
  { entry, outcome }: Pick<ReplayAnswer, 'entry' | 'outcome'>,
): Difference[] {
  if (outcome === 'refused') return ['refused'];
  if (entry === null) return [];
  const isOtherVersion = original.eventVersion !== entry.eventVersion;
  // Revision 1 of the rules left it to chance in which order changes came, and what they unset.
  const hasOrder = (original.evaluator ?? 1) > 1;
  const members: [Difference, boolean][] = [
    ['version', isOtherVersion],
    ['definition', !isOtherVersion && original.versionHash !== entry.versionHash],
    ['input', original.kind === 'execution' && differ(original.input, entry.input)],
    ['model', modelOf(original) !== modelOf(entry) && modelOf(original) !== null && modelOf(entry) !== null],
    ['status', original.status !== entry.status],
    ['changes', differ(changesOf(original, hasOrder), changesOf(entry, hasOrder))],
    ['result', differ(original.result, entry.result)],
    ['error', differInError(original, entry)],
  ];
  return members.flatMap(([difference, differs]) => (differs ? [difference] : []));
}

const differ = (a: unknown, b: unknown): boolean => canonicalJson(a) !== canonicalJson(b);

function changesOf({ changes }: HistoryEntry, hasOrder: boolean) {
  const shown = changes.map(({ revision: _, ...change }) => change);
  if (hasOrder) return shown;
  return shown
    .map((change) => ({ ...change, unset: change.unset.toSorted() }))
    .toSorted((a, b) => (keyOf(a.entitySchema, a.instanceId) < keyOf(b.entitySchema, b.instanceId) ? -1 : 1));
}

/** Entries of earlier releases quote the template that failed, and those of now do not: between them only the code compares. */
const differInError = ({ error: a }: HistoryEntry, { error: b }: HistoryEntry): boolean =>
  a?.code !== b?.code || (quotesTemplate(a) === quotesTemplate(b) && a?.detail !== b?.detail);

const quotesTemplate = (error: HistoryEntry['error']): boolean =>
  error?.facts !== undefined && 'placeholder' in error.facts;

/** The model that decided; null: none did. */
const modelOf = ({ llm }: HistoryEntry): string | null => (llm === null ? null : String(llm['model']));

/** What models cost. `usd` is null while none of them has a price. */
export interface ModelCost {
  readonly executions: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number | null;
}

export const NO_COST: ModelCost = { executions: 0, inputTokens: 0, outputTokens: 0, usd: null };

/** What an entry records of the cost of its model, earlier rounds included. */
export function costOf({ llm }: Pick<HistoryEntry, 'llm'>): ModelCost {
  if (llm === null) return NO_COST;
  const rounds = [llm, ...((llm['earlier'] as Exchange[] | undefined) ?? [])] as Exchange[];
  const usages = rounds.flatMap(({ usage }) => (usage === undefined ? [] : [{ executions: 0, ...usage }]));
  return usages.reduce(addCosts, { ...NO_COST, executions: 1 });
}

interface Exchange {
  readonly usage?: Omit<ModelCost, 'executions'>;
}

export const addCosts = (a: ModelCost, b: ModelCost): ModelCost => ({
  executions: a.executions + b.executions,
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  usd: a.usd === null && b.usd === null ? null : (a.usd ?? 0) + (b.usd ?? 0),
});

/** An outcome as one that can be counted: equal outcomes have equal texts. */
export interface CountedOutcome {
  readonly status: 'succeeded' | 'failed' | 'refused';
  readonly stateChanges: HistoryEntry['stateChanges'];
  readonly result: HistoryEntry['result'];
  readonly code: string | null;
}

export function outcomeOf({
  entry,
  outcome,
  error,
}: Pick<ReplayAnswer, 'entry' | 'outcome' | 'error'>): CountedOutcome {
  if (outcome === 'refused' || entry === null)
    return { status: 'refused', stateChanges: {}, result: null, code: error?.code ?? null };
  const { status, stateChanges, result } = entry;
  return { status: status ?? 'succeeded', stateChanges, result, code: entry.error?.code ?? null };
}
