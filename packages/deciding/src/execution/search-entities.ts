import {
  EVALUATOR,
  type Evaluator,
  type ExecutionError,
  type JsonObject,
  type ReadEntity,
  ServiceError,
} from '@orrery/contracts';
import {
  type Condition,
  compareInOrder,
  compileCondition,
  type OrderKey,
  orderValues,
  parseOrder,
  SEARCH_NAMES,
  satisfies,
} from '@orrery/expressions';
import type { InstanceState } from './execution.js';

/** Instances that the searches of one item of `readEntities` go through at most. */
export const MAX_SEARCHED = 10_000;

/** Instances that all searches of one execution go through at most, each as often as it is searched. */
const MAX_SEARCHED_TOGETHER = 4 * MAX_SEARCHED;

/** What an item of `readEntities` searches for, beyond its schema and filter. */
export interface EntitySearch {
  readonly condition: Condition | undefined;
  readonly order: readonly OrderKey[];
  readonly limit: number | undefined;
}

/** Undefined: the item reads all that it selects. @throws `validation_failed` for what no catalog would have saved */
export function compileSearch({ where, orderBy, limit }: ReadEntity): EntitySearch | undefined {
  if (where === undefined && orderBy === undefined && limit === undefined) return undefined;
  const compiled = where === undefined ? undefined : compileCondition(where, SEARCH_NAMES);
  const parsed = orderBy === undefined ? undefined : parseOrder(orderBy);
  if (compiled?.ok === false) throw new ServiceError('validation_failed', compiled.problem.message);
  if (parsed?.ok === false) throw new ServiceError('validation_failed', parsed.problem);
  return { condition: compiled?.condition, order: parsed?.order ?? [], limit };
}

/** What is left of the work of one execution's searches: some 40 ms at worst. Time does not bound them, so they can be run again. */
export const searchWork = (evaluator: Evaluator = EVALUATOR) => ({ work: 500_000, evaluator });

/** An instance that a search goes through, in the state that templates see. */
export interface Candidate {
  readonly instanceId: string;
  readonly found: InstanceState;
  readonly state: JsonObject;
}

const ID: OrderKey = { path: null, isDescending: false };

/** Those that the search finds, in its order. @throws `read_set_too_large` where that takes too much work */
export function searchEntities(
  { condition, order, limit }: EntitySearch,
  candidates: readonly Candidate[],
  input: JsonObject,
  budget: { work: number; readonly evaluator?: Evaluator },
): Candidate[] {
  const matching = candidates.filter(({ instanceId: id, state }) => {
    const holds = condition === undefined || satisfies(condition, { instance: state, id, input }, budget);
    if (holds === undefined) throw tooMuchWork();
    return holds;
  });
  const keys = [...order, ID];
  return matching
    .map((candidate) => ({ candidate, values: orderValues(keys, candidate.instanceId, candidate.state) }))
    .sort((a, b) => compareInOrder(keys, a.values, b.values))
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

const tooMuchWork = () =>
  new ServiceError(
    'read_set_too_large',
    'The conditions of readEntities take more work than one execution may do. Shorten them, or name fewer instances in "filter".',
  );

export const tooManySearched = () =>
  new ServiceError(
    'read_set_too_large',
    `A condition of readEntities searches at most ${MAX_SEARCHED} instances. Name those in question in "filter".`,
    { facts: { limit: MAX_SEARCHED } },
  );

/** As many bytes of states, as JSON, one execution brings into memory for what it reads whole: states have up to 64 KiB each. */
export const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;

/** A bound of the process and not of the rules: an earlier release had it for one schema alone, and not for what was in memory. */
export const tooLargeToSearch = () =>
  new ServiceError(
    'read_set_too_large',
    `The items of readEntities read and search schemas with at most ${MAX_SEARCHED_BYTES / 1024 / 1024} MiB of states together. Name those in question in "filter".`,
    { facts: { maxBytes: MAX_SEARCHED_BYTES } },
  );

/**
 * Counts the instances that the searches of one execution go through. A bound of the process too: an earlier release had none.
 * @throws `read_set_too_large`
 */
export function searchedTogether(): (count: number) => void {
  let left = MAX_SEARCHED_TOGETHER;
  return (count) => {
    left -= count;
    if (left >= 0) return;
    throw new ServiceError(
      'read_set_too_large',
      `The searches of one execution go through at most ${MAX_SEARCHED_TOGETHER} instances together. Name those in question in "filter".`,
      // `maxBytes` tells verifiers of every release that it is a bound of the process.
      { facts: { maxSearched: MAX_SEARCHED_TOGETHER, maxBytes: MAX_SEARCHED_BYTES } },
    );
  };
}

/** Whether an execution failed at a bound of the process, which its journal does not decide. */
export const isTooLargeToSearch = ({ code, facts }: Pick<ExecutionError, 'code' | 'facts'>): boolean =>
  code === 'read_set_too_large' && facts?.['maxBytes'] !== undefined;
