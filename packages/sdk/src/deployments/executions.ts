import { OrreryError } from '../errors/orrery-error.js';
import type { components } from '../generated/api.js';
import type { DeploymentPath } from '../journal/journal.js';
import type { RequestOptions } from '../requests/operation-types.js';
import { pause, type Requests } from '../requests/requests.js';

type Schemas = components['schemas'];
export type JsonObject = Schemas['JsonObject'];
export type ExecutionAnswer = Schemas['ExecutionAnswer'];
export type DryRunAnswer = Schemas['DryRunAnswer'];

/** One execution: the event's name and its input, `{}` by default. */
export type ExecutionRequest = Schemas['ExecuteRequest'];
/** A version that is not saved, and an input for it. */
export type TryRequest = Schemas['TryRequest'];
export interface DryRunOptions extends Pick<RequestOptions, 'signal'> {
  /** Another version than the bound one. */
  readonly eventVersion?: number;
  /** Another model than the deployment's. */
  readonly aiModelId?: string;
}

const EXECUTE = '/api/worlds/{worldAddress}/deployments/{address}/execute';
const TRY = '/api/worlds/{worldAddress}/deployments/{address}/try';
const EXECUTION = '/api/worlds/{worldAddress}/deployments/{address}/executions/{executionId}';
const FIRST_POLL_MS = 100;
const SLOWEST_POLL_MS = 2000;

export interface Executions {
  /** Executes an event and resolves with what changed. */
  execute(request: ExecutionRequest, options?: RequestOptions): Promise<ExecutionAnswer>;
  /** What an execution would change; for an AI model also its prompt and proposal. Nothing is committed. */
  dryRun(request: ExecutionRequest, options?: DryRunOptions): Promise<DryRunAnswer>;
  /** The same of a version that is not saved. It is checked as saving would. */
  tryVersion(request: TryRequest, options?: Pick<RequestOptions, 'signal'>): Promise<DryRunAnswer>;
  /** Executes an event without waiting for it; resolves with the id that `waitFor` takes. */
  start(request: ExecutionRequest, options?: RequestOptions): Promise<string>;
  /** Resolves once the execution has succeeded. @throws OrreryError with the reason when it has failed */
  waitFor(executionId: string, options?: Pick<RequestOptions, 'signal'>): Promise<ExecutionAnswer>;
}

export function createExecutions({ answer }: Requests, path: DeploymentPath): Executions {
  return {
    execute: async (body, options) => {
      const { body: envelope } = await answer('post', EXECUTE, { ...options, path, body });
      return envelope.data as ExecutionAnswer;
    },
    dryRun: async (body, { signal, ...others } = {}) => {
      const query = { ...others, dryRun: true };
      const { body: envelope } = await answer('post', EXECUTE, { path, query, body, signal });
      return envelope.data as DryRunAnswer;
    },
    tryVersion: async (body, { signal } = {}) => {
      const { body: envelope } = await answer('post', TRY, { path, body, signal });
      return envelope.data;
    },
    start: async (body, options) => {
      const headers = { ...options?.headers, prefer: 'respond-async' };
      const { body: envelope } = await answer('post', EXECUTE, { ...options, headers, path, body });
      return (envelope.data as Schemas['AcceptedExecution']).executionId;
    },
    waitFor: async (executionId, { signal } = {}) => {
      for (let delay = FIRST_POLL_MS; ; delay = Math.min(delay * 1.5, SLOWEST_POLL_MS)) {
        const { body } = await answer('get', EXECUTION, { path: { ...path, executionId }, signal });
        const { state, answer: succeeded, error } = body.data;
        if (succeeded !== undefined) return succeeded;
        if (state === 'failed')
          throw new OrreryError(error ?? { code: 'internal', detail: 'It has failed.' });
        await pause(delay, signal);
      }
    },
  };
}
