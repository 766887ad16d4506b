import type { Divergence, HashedEntry, KeptDefinition, NotRerun } from '@orrery/contracts';
import type { CompiledDefinition, Decision } from '../execution/execution.js';
import { createSeedCheck, type SeedCounts } from '../randomness/check-seeds.js';
import { type FirstInstance, foldInstances } from './folded-instances.js';
import { agrees, compileKept, isDefinitionOf, notRerunnable, type PlaceOfWorld, rerun } from './rerun.js';
import { type Exchange, isAnswerRerunnable, isExchangeOf, rerunAnswer } from './rerun-answer.js';

/** What became of the executions so far. */
export interface DecisionCounts {
  rerun: number;
  notRerun: Partial<Record<NotRerun, number>>;
  /** Absent: no random numbers were drawn. */
  seeds?: SeedCounts;
}

interface CheckedDeployment extends PlaceOfWorld {
  /** What a clone begins with, in the order of creation. */
  readonly first: Iterable<FirstInstance>;
  /** The definition of a `versionHash`; undefined: it cannot be read. */
  readonly definitionOf: (hash: string) => Promise<KeptDefinition | undefined>;
  /** What a model was asked and answered for an entry, with its texts; undefined: they may not be read. */
  readonly exchangeOf: (entry: HashedEntry) => Promise<Exchange | undefined>;
}

/** Why an entry does not hold; undefined: it does, or it is not decided again. */
type What =
  | Extract<
      Divergence['what'],
      'decision_differs' | 'definition_differs' | 'exchange_differs' | 'draws_differ'
    >
  | undefined;

/** The entry that does not hold: the one that is checked, or an earlier one whose secret it reveals. */
type Found = { readonly seq: number; readonly what: NonNullable<What> } | undefined;

/** A definition as it is kept and as it runs; undefined: none can be read. */
type Known = { readonly kept: KeptDefinition; readonly compiled: CompiledDefinition } | undefined;

/**
 * Decides the executions of a whole journal again, in its order, with nothing but the entries and the definitions (docs/history.md
 * "Decisions"). Each entry is checked and then followed. The time of a check does not depend on the length of the journal;
 * all instances are in memory.
 */
export function createDecisionCheck({ first, definitionOf, exchangeOf, ...place }: CheckedDeployment) {
  const counts: DecisionCounts = { rerun: 0, notRerun: {} };
  const instances = foldInstances(first);
  const seeds = createSeedCheck();
  const definitions = new Map<string, Known | 'differs'>();

  const load = async (hash: string): Promise<Known | 'differs'> => {
    const kept = await definitionOf(hash);
    const known = kept && (isDefinitionOf(kept, hash) ? { kept, compiled: compileKept(kept) } : 'differs');
    definitions.set(hash, known);
    return known;
  };
  const compared = (entry: HashedEntry, decision: Decision): What => {
    counts.rerun += 1;
    return decision.kind !== 'needs' && agrees(entry, decision) ? undefined : 'decision_differs';
  };
  const left = (why: NotRerun): undefined => {
    counts.notRerun[why] = (counts.notRerun[why] ?? 0) + 1;
  };
  const decide = (entry: HashedEntry, known: Known | 'differs'): What | Promise<What> => {
    if (known === 'differs') return 'definition_differs';
    const reason = notRerunnable(entry, known?.kept);
    if (known === undefined) return left(reason ?? 'no_definition');
    if (reason === 'model' && entry.llmHash !== null) return applied(entry, known.compiled);
    if (reason !== undefined) return left(reason);
    // What a fork remembers stands partly in its source.
    if (entry.replayOf !== undefined && known.kept.readHistory !== undefined) return left('outside');
    return compared(entry, rerun(entry, known.compiled, place, instances));
  };
  /** The answer of a model, from there on. */
  const applied = async (entry: HashedEntry, definition: CompiledDefinition): Promise<What> => {
    const exchange = await exchangeOf(entry);
    if (exchange === undefined) return left('model');
    if (!isExchangeOf(entry, exchange)) return 'exchange_differs';
    if (!isAnswerRerunnable(entry, definition)) return left('model');
    const decision = rerunAnswer(entry, definition, place, exchange, instances);
    return decision === undefined ? 'decision_differs' : compared(entry, decision);
  };

  const checkDecision = (entry: HashedEntry): What | Promise<What> => {
    if (entry.kind !== 'execution') return undefined;
    const hash = entry.versionHash ?? '';
    if (definitions.has(hash)) return decide(entry, definitions.get(hash));
    return notRerunnable(entry, undefined) === 'no_definition'
      ? load(hash).then((known) => decide(entry, known))
      : decide(entry, undefined);
  };

  return {
    counts,
    /** Whether the entry is what its definition gives. It waits where a definition is read for the first time, and for what a model answered. */
    check: (entry: HashedEntry): Found | Promise<Found> => {
      const wrong = seeds.check(entry);
      if (entry.randomness !== undefined) counts.seeds = seeds.counts;
      if (wrong !== undefined) return { seq: wrong, what: 'draws_differ' };
      const what = checkDecision(entry);
      const found = (found: What): Found => found && { seq: entry.seq, what: found };
      return what instanceof Promise ? what.then(found) : found(what);
    },
    /** Takes the changes of an entry that holds. */
    follow: instances.follow,
  };
}
