import type { Divergence, ExecutionError, HashedEntry, KeptDefinition, NotRerun } from '@orrery/contracts';
import { isRefusedForm } from '@orrery/expressions';
import type { CompiledDefinition, Decision, InstanceView } from '../execution/execution.js';
import { isTooLargeToSearch } from '../execution/search-entities.js';
import type { SeedCounts } from '../randomness/check-seeds.js';
import { agrees, compileKept, isDefinitionOf, notRerunnable, type PlaceOfWorld, rerun } from './rerun.js';
import { type Exchange, isAnswerRerunnable, isExchangeOf, rerunAnswer } from './rerun-answer.js';

/** What became of the executions so far. */
export interface DecisionCounts {
  rerun: number;
  notRerun: Partial<Record<NotRerun, number>>;
  /** Absent: no random numbers were drawn. */
  seeds?: SeedCounts;
}

/** What does not hold of an entry; undefined: it holds, or it is not decided again. */
export type Verdict =
  | Extract<
      Divergence['what'],
      'decision_differs' | 'definition_differs' | 'exchange_differs' | 'draws_differ'
    >
  | undefined;

type Awaitable<T> = T | Promise<T>;

/** What entries are judged by. What is at hand is given at once: a promise costs more than a decision. */
export interface JudgedBy extends PlaceOfWorld {
  /** The definition of a `versionHash`; undefined: it cannot be read. Each is asked for once. */
  readonly definitionOf: (hash: string) => Promise<KeptDefinition | undefined>;
  /** What a model was asked and answered for an entry, with its texts; undefined: they may not be read. */
  readonly exchangeOf: (entry: HashedEntry) => Promise<Exchange | undefined>;
  /** Decides on the instances before the entry. */
  readonly decideOn: <T extends Decision | undefined>(
    entry: HashedEntry,
    decide: (instances: InstanceView) => T,
  ) => Awaitable<T>;
  /** Whether the instances' history of a what-if fork is also that of its source. */
  readonly remembersSource: boolean;
}

/** A definition as it is kept and as it runs; undefined: none can be read. */
type Known = { readonly kept: KeptDefinition; readonly compiled: CompiledDefinition } | undefined | 'differs';

/** What earlier releases did not refuse, or other processes may not. */
const isOutside = (error: Pick<ExecutionError, 'code' | 'facts'>): boolean =>
  isTooLargeToSearch(error) || (error.code === 'template_failed' && isRefusedForm(error.facts?.['reason']));

/** A failed execution has neither changes nor a result (docs/history.md). */
const hasEffect = ({ changes, result }: HashedEntry): boolean =>
  changes.length > 0 || (result ?? null) !== null;

/**
 * Says of entries, in the order of their journal, whether their executions are what their definitions give (docs/history.md
 * "Decisions"): the one place that does, for the service and for who checks without it.
 */
export function createJudge({ definitionOf, exchangeOf, decideOn, remembersSource, ...place }: JudgedBy) {
  const counts: DecisionCounts = { rerun: 0, notRerun: {} };
  const definitions = new Map<string, Known>();

  const left = (why: NotRerun): undefined => {
    counts.notRerun[why] = (counts.notRerun[why] ?? 0) + 1;
  };
  const compared = (entry: HashedEntry, decision: Decision | undefined): Verdict => {
    if (decision === undefined) return 'decision_differs';
    if ('error' in decision && isOutside(decision.error)) return left('outside');
    counts.rerun += 1;
    return decision.kind !== 'needs' && agrees(entry, decision) ? undefined : 'decision_differs';
  };
  const decided = (
    entry: HashedEntry,
    decide: (instances: InstanceView) => Decision | undefined,
  ): Awaitable<Verdict> => {
    const decision = decideOn(entry, decide);
    return decision instanceof Promise
      ? decision.then((found) => compared(entry, found))
      : compared(entry, decision);
  };
  /** The answer of a model, from there on. */
  const applied = async (entry: HashedEntry, definition: CompiledDefinition): Promise<Verdict> => {
    const exchange = await exchangeOf(entry);
    if (exchange === undefined) return left('model');
    if (!isExchangeOf(entry, exchange)) return 'exchange_differs';
    if (!isAnswerRerunnable(entry, definition)) return left('model');
    return decided(entry, (instances) => rerunAnswer(entry, definition, place, exchange, instances));
  };
  const judge = (entry: HashedEntry, known: Known): Awaitable<Verdict> => {
    if (known === 'differs') return 'definition_differs';
    const reason = notRerunnable(entry, known?.kept);
    if (known === undefined) return left(reason ?? 'no_definition');
    const { kept, compiled } = known;
    if (reason === 'model' && entry.llmHash !== null) return applied(entry, compiled);
    if (reason !== undefined) return left(reason);
    // What a fork remembers stands partly in its source.
    if (!remembersSource && entry.replayOf !== undefined && kept.readHistory !== undefined)
      return left('outside');
    return decided(entry, (instances) => rerun(entry, compiled, place, instances));
  };
  const load = async (hash: string): Promise<Known> => {
    const kept = await definitionOf(hash);
    const known = kept && (isDefinitionOf(kept, hash) ? { kept, compiled: compileKept(kept) } : 'differs');
    definitions.set(hash, known);
    return known;
  };

  return {
    counts,
    judge: (entry: HashedEntry): Awaitable<Verdict> => {
      if (entry.kind !== 'execution') return undefined;
      // By no rule, whatever it cannot be decided again for.
      if (entry.status === 'failed' && hasEffect(entry)) return 'decision_differs';
      const hash = entry.versionHash ?? '';
      if (definitions.has(hash)) return judge(entry, definitions.get(hash));
      return notRerunnable(entry, undefined) === 'no_definition'
        ? load(hash).then((known) => judge(entry, known))
        : judge(entry, undefined);
    },
  };
}
