import type { components } from '../generated/api.js';
import {
  createJournal,
  type DeploymentPath,
  type HistoryEntry,
  type HistoryOptions,
  type JournalOptions,
} from '../journal/journal.js';
import { pagesOf } from '../requests/lists.js';
import type { Requests } from '../requests/requests.js';
import type { DrawVerdict } from '../verification/decision-check.js';
import type { VerifiedHistory, VerifyOptions } from '../verification/verify-history.js';
import { createReplay, type Replay } from '../what-if/replay.js';
import type { ReplayOptions } from '../what-if/replay-options.js';
import { createExecutions, type Executions } from './executions.js';
import { type StreamEvent, type StreamOptions, streamOf } from './stream.js';

export type EntityInstance = components['schemas']['EntityInstance'];

export interface InstancesOptions {
  readonly entitySchema?: string;
  /** A CEL condition over `instance` and `id`, such as `instance.wins > 3`; it needs `entitySchema`. */
  readonly where?: string;
  /** Such as `wins desc, speed`; it needs `entitySchema`. */
  readonly orderBy?: string;
  /** The instances as they were after this entry of the journal. */
  readonly atSeq?: number;
  readonly signal?: AbortSignal;
}

/** One deployment: executions, instances, journal. */
export interface Deployment extends Executions {
  readonly path: DeploymentPath;
  /** All instances, those of one schema, or those that a condition selects. */
  instances(options?: InstancesOptions): AsyncGenerator<EntityInstance, void, undefined>;
  /** Executions, newest first; `include: 'all'` takes the whole journal. */
  history(options?: HistoryOptions): AsyncGenerator<HistoryEntry, void, undefined>;
  /** The whole journal in order of seq. */
  journal(options?: JournalOptions): AsyncGenerator<HistoryEntry, void, undefined>;
  /** What happens from now on, or after a seq: each entry once, over reconnections. */
  stream(options?: StreamOptions): AsyncGenerator<StreamEvent, void, undefined>;
  /** Recomputes the hash chain and the states here, and compares them with what the service shows. */
  verifyHistory(options?: VerifyOptions): Promise<VerifiedHistory>;
  /**
   * Holds the random numbers of one entry to what they are made of: the secret that is revealed after it, or the round of a beacon.
   * It loads `@orrery/sdk/decisions`.
   */
  verifyDraw(entry: HistoryEntry, options?: { readonly signal?: AbortSignal }): Promise<DrawVerdict>;
  /** What if: a part of the history again, with changes, in a fork that reaches nobody. Nothing is sent until it is used. */
  replay(options?: ReplayOptions): Replay;
}

export function createDeployment(requests: Requests, path: DeploymentPath): Deployment {
  const journal = createJournal(requests, path);
  return {
    ...createExecutions(requests, path),
    path,
    instances: async function* ({ signal, ...query } = {}) {
      const list = '/api/worlds/{worldAddress}/deployments/{address}/entity-instances';
      for await (const { data } of pagesOf(requests, list, { path, query, signal })) yield* data;
    },
    history: journal.newestFirst,
    journal: journal.inOrder,
    stream: (options) => streamOf(requests, path, options),
    verifyHistory: async (options) => {
      // A page that never verifies does not load it.
      const { verifyHistory } = await import('@orrery/sdk/verification');
      return verifyHistory(requests, path, options);
    },
    verifyDraw: async (entry, { signal } = {}) => {
      const { verifyDraw } = await import('@orrery/sdk/decisions');
      return verifyDraw(journal, entry, signal);
    },
    replay: (options) => createReplay(requests, path, options),
  };
}
