import { createJournal, type DeploymentPath } from '../journal/journal.js';
import type { Requests } from '../requests/requests.js';
import { addCosts, costOf, type ModelCost, NO_COST } from './compare-entries.js';
import type { ReplayOptions, ReplayRange } from './replay-options.js';

/** What a replay will take, all its runs together. */
export interface ReplayEstimate extends ReplayRange {
  readonly runs: number;
  /** Executions and writes that are done again. */
  readonly executions: number;
  readonly writes: number;
  /** Of the executions that a model decides: tokens and price as they are recorded, whichever model is asked now. */
  readonly cost: ModelCost;
  /** Executions that a model decides now and did not then: nothing tells what they cost. */
  readonly withoutEstimate: number;
}

interface Replayed {
  readonly requests: Requests;
  readonly source: DeploymentPath;
  readonly options: ReplayOptions;
  readonly range: ReplayRange;
}

export async function estimateOf({ requests, source, options, range }: Replayed): Promise<ReplayEstimate> {
  const { times = 1, signal } = options;
  const decidedBy = await decidersOf(requests, source, options);
  let [executions, writes, withoutEstimate] = [0, 0, 0];
  let cost = NO_COST;
  for await (const entry of createJournal(requests, source).inOrder({
    after: range.from - 1,
    until: range.to,
    signal,
  })) {
    if (entry.kind.startsWith('instance_')) writes += 1;
    if (entry.kind !== 'execution') continue;
    executions += 1;
    const isAi = decidedBy.get(entry.event ?? '') ?? entry.llm !== null;
    if (isAi && entry.llm === null) withoutEstimate += 1;
    if (isAi) cost = addCosts(cost, costOf(entry));
  }
  const { usd } = cost;
  return {
    ...range,
    runs: times,
    executions: executions * times,
    writes: writes * times,
    withoutEstimate: withoutEstimate * times,
    cost: {
      executions: cost.executions * times,
      inputTokens: cost.inputTokens * times,
      outputTokens: cost.outputTokens * times,
      usd: usd === null ? null : usd * times,
    },
  };
}

const VERSION = '/api/worlds/{worldAddress}/events/{eventName}/event-versions/{version}';

/** Of each event that gets another version: whether a model decides that. @throws OrreryError for a version that there is not */
async function decidersOf(
  requests: Requests,
  { worldAddress }: DeploymentPath,
  { versions = {}, signal }: ReplayOptions,
): Promise<Map<string, boolean>> {
  const decided = Object.entries(versions).map(async ([eventName, version]) => {
    const path = { worldAddress, eventName, version };
    const { body } = await requests.answer('get', VERSION, { path, signal });
    const { mutationSettings, behaviorPrompt } = body.data;
    const isAi = mutationSettings === null ? behaviorPrompt !== null : mutationSettings.mode === 'ai';
    return [eventName, isAi] as const;
  });
  return new Map(await Promise.all(decided));
}
