import { OrreryError } from '../errors/orrery-error.js';
import { createJournal, type DeploymentPath, type HistoryEntry } from '../journal/journal.js';
import type { Requests } from '../requests/requests.js';
import { differencesOf, type ModelCost, partsIn } from './compare-entries.js';
import { compareStates, type StateDifference } from './compare-states.js';
import { estimateOf, type ReplayEstimate } from './replay-estimate.js';
import { checkOptions, type ReplayOptions, type ReplayRange, rangeOf } from './replay-options.js';
import {
  createReplayTally,
  createRunTally,
  type EventComparison,
  type ReplayedEntry,
  type Spread,
} from './replay-tally.js';

/** One run: how the history of its fork differs from the recorded one. */
export interface ReplayRun {
  /** Address of the fork; it is deleted by now unless it is kept. */
  readonly fork: string;
  readonly isKept: boolean;
  /** Entries that were executed, written or refused. */
  readonly entries: number;
  readonly refused: number;
  /** The first entry with another outcome, by its seq in the source; null: both histories are the same. */
  readonly partsAt: number | null;
  /** All entries with another outcome. */
  readonly parting: readonly number[];
  /** Instances that are not the same after the last entry. */
  readonly states: readonly StateDifference[];
  /** More instances may differ: only the first 500 that might were compared. */
  readonly isCut: boolean;
  readonly cost: ModelCost;
}

/** Both histories side by side. */
export interface ReplayComparison extends ReplayRange {
  readonly runs: readonly ReplayRun[];
  readonly events: readonly EventComparison[];
  /** Of the executions that a model has decided. */
  readonly spreads: readonly Spread[];
}

/**
 * A replay. Iterating executes it, entry by entry, and may be done once. Each run has a fork of its own, one after the
 * other; a fork is deleted when its run ends, also when the iteration is left, the signal aborts or a request fails.
 */
export interface Replay extends AsyncIterable<ReplayedEntry> {
  /** What it will take, by what the recorded executions have taken. Nothing is made, and no model is asked. */
  estimate(): Promise<ReplayEstimate>;
  /**
   * Executes what is left, and resolves with both histories side by side. It rejects where the iteration has failed, or was left
   * before its end, which has deleted the fork.
   */
  comparison(): Promise<ReplayComparison>;
}

const DEPLOYMENTS = '/api/worlds/{worldAddress}/deployments';
const DEPLOYMENT = '/api/worlds/{worldAddress}/deployments/{address}';
const REPLAY = '/api/worlds/{worldAddress}/deployments/{address}/replay';

interface Context {
  readonly requests: Requests;
  readonly source: DeploymentPath;
  readonly options: ReplayOptions;
  readonly range: ReplayRange;
  readonly add: (entry: ReplayedEntry) => void;
}

/** @throws RangeError for options that no replay has */
export function createReplay(
  requests: Requests,
  source: DeploymentPath,
  options: ReplayOptions = {},
): Replay {
  checkOptions(options);
  let known: Promise<ReplayRange> | undefined;
  const range = () => {
    known ??= rangeOf(options, createJournal(requests, source));
    return known;
  };
  const tally = createReplayTally();
  const runs: ReplayRun[] = [];
  const { times = 1 } = options;
  let failure: unknown;
  const entries = (async function* () {
    try {
      const context = { requests, source, options, range: await range(), add: tally.add };
      for (let run = 1; run <= times; run += 1) runs.push(yield* replayOnce(context, run));
    } catch (error) {
      failure = error;
      throw error;
    }
  })();
  return {
    [Symbol.asyncIterator]: () => entries,
    estimate: async () => estimateOf({ requests, source, options, range: await range() }),
    comparison: async () => {
      for await (const _ of entries);
      if (runs.length < times) throw failure ?? new Error(LEFT);
      return { ...(await range()), runs, events: tally.events(runs.length), spreads: tally.spreads() };
    },
  };
}

const LEFT =
  'The iteration was left before its end, so there is nothing to compare: make another replay, and iterate to its end.';

async function* replayOnce(
  context: Context,
  run: number,
): AsyncGenerator<ReplayedEntry, ReplayRun, undefined> {
  const { requests, source, options, range, add } = context;
  const fork = await makeFork(context, run);
  let isKept = false;
  try {
    const tally = createRunTally();
    for await (const original of createJournal(requests, source).inOrder({
      after: range.from - 1,
      until: range.to,
      signal: options.signal,
    })) {
      const entry = await replayEntry(context, fork, original, run);
      tally.add(entry);
      add(entry);
      yield entry;
    }
    const compared = await compareStates(
      { requests, source, fork, ...range, signal: options.signal },
      tally.touched(),
    );
    isKept = options.keep === true;
    if (isKept)
      await requests.answer('put', DEPLOYMENT, { path: fork, body: { isKept }, signal: options.signal });
    return { fork: fork.address, isKept, ...tally.found(), ...compared };
  } finally {
    // One that stays for want of a connection is deleted by the service, an hour later.
    if (!isKept) await requests.answer('delete', DEPLOYMENT, { path: fork }).catch(() => undefined);
  }
}

/** The longest name that a deployment may have. */
const LONGEST_NAME = 255;

async function makeFork({ requests, source, options, range }: Context, run: number): Promise<DeploymentPath> {
  const { signal, model, budgetUsd, times = 1 } = options;
  const { body: found } = await requests.answer('get', DEPLOYMENT, { path: source, signal });
  const { name, address: sourceDeployment, aiDailyBudgetUsd, worldAddress } = found.data;
  const which = times > 1 ? `, run ${run}` : '';
  const suffix = ` · what if, ${range.from} to ${range.to}${which}`;
  const { body: made } = await requests.answer('post', DEPLOYMENTS, {
    path: { worldAddress },
    signal,
    body: {
      name: `${cut(name, LONGEST_NAME - suffix.length)}${suffix}`,
      bindings: [],
      purpose: 'what_if',
      sourceDeployment,
      sourceSeq: range.from - 1,
      aiDailyBudgetUsd: budgetUsd ?? aiDailyBudgetUsd,
      ...(model !== undefined && { aiModelId: model }),
    },
  });
  return { worldAddress, address: made.data.address };
}

/** No half of a surrogate pair is left at the end, and no space. */
const cut = (text: string, length: number): string =>
  text
    .slice(0, length)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd();

async function replayEntry(
  { requests, options }: Context,
  fork: DeploymentPath,
  original: HistoryEntry,
  run: number,
): Promise<ReplayedEntry> {
  const { seq, event } = original;
  const { versions = {}, inputs = {}, model, signal } = options;
  const eventVersion = event !== null && Object.hasOwn(versions, event) ? versions[event] : undefined;
  const input = inputs[seq];
  const body = {
    seq,
    ...(eventVersion !== undefined && { eventVersion }),
    ...(input !== undefined && { input }),
    ...(model !== undefined && { aiModelId: model }),
  };
  const { body: answer } = await requests.answer('post', REPLAY, { path: fork, body, signal });
  const { outcome, entry: replayed, error } = answer.data;
  if (replayed?.error?.code === 'budget_exhausted') throw new OrreryError(replayed.error);
  const differences = differencesOf(original, answer.data);
  return { run, seq, original, outcome, replayed, error, differences, parts: partsIn(differences) };
}
