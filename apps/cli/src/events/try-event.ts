import type { JsonObject, JsonValue } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { findDeployment } from '../operations/references.js';
import { ask } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';
import { type Problem, Refusal } from '../server/refusal.js';

export interface TryRequest {
  readonly deployment: string;
  readonly world?: string;
  readonly event: string;
  readonly version?: number;
  readonly model?: string;
  readonly input: JsonObject;
  readonly times: number;
}

/** What one dry run gave. Where there is no valid proposal, `error` says why. */
export interface Try {
  readonly valid: boolean;
  readonly event: string;
  readonly eventVersion: number | null;
  readonly model: string | null;
  readonly stateChanges: Readonly<Record<string, JsonObject | null>>;
  readonly result: JsonValue;
  readonly requests: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly usd: number | null;
  readonly latencyMs: number | null;
  readonly error: { readonly code: string; readonly detail: string } | null;
}

/** Refusals that say something about a proposal, its model or its budget; the others are about the request itself. */
const OF_THE_MODEL = new Set(['budget_exhausted', 'rate_limited', 'too_many_waiting']);

/**
 * Makes dry runs one after the other. Where the server is away after the first, those that there are come with one that failed.
 * @throws StartupError for a request that would be refused every time
 */
export async function tryEvent(server: Server, request: TryRequest): Promise<Try[]> {
  const { event, input, version, model, deployment } = request;
  const reference = request.world === undefined ? deployment : `${request.world}/${deployment}`;
  const { worldAddress, address } = await findDeployment(server, reference);
  const query = {
    dryRun: 'true',
    ...(version !== undefined && { eventVersion: String(version) }),
    ...(model !== undefined && { aiModelId: model }),
  };
  const params = { worldAddress, address };
  const tries: Try[] = [];
  while (tries.length < request.times) {
    const one = await ask(server, {
      method: 'POST',
      path: EXECUTE,
      params,
      query,
      body: { event, input },
    }).then(
      ({ data }) => validTry(event, data as DryRun),
      (error: unknown) => failedTry(event, error, tries.length > 0),
    );
    tries.push(one);
    if (one.error?.code === UNANSWERED) break;
  }
  return tries;
}

const EXECUTE = '/api/worlds/{worldAddress}/deployments/{address}/execute';
/** The code of a try whose answer did not come: the server is away, and no further one is made. */
const UNANSWERED = 'network_error';

interface DryRun {
  readonly eventVersion: number;
  readonly stateChanges: Try['stateChanges'];
  readonly result: JsonValue;
  readonly llm: Partial<Exchange> | null;
}

/** The part of a model's exchange that is shown. */
interface Exchange {
  readonly model: string;
  readonly attempts: readonly unknown[];
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly usd: number | null;
  };
  readonly latencyMs: number;
}

const validTry = (event: string, { eventVersion, stateChanges, result, llm }: DryRun): Try => ({
  ...{ valid: true, event, eventVersion, stateChanges, result, error: null },
  ...measuresOf(llm),
});

/**
 * @param hasOthers whether there are tries to show, which are worth more than the reason why there are no more
 * @throws the error, where it says nothing about the model
 */
function failedTry(event: string, error: unknown, hasOthers: boolean): Try {
  if (hasOthers && error instanceof StartupError && !(error instanceof Refusal)) {
    const [detail = ''] = error.message.split('\n');
    return invalidTry(event, { code: UNANSWERED, detail: `${detail} No further try was made.` }, undefined);
  }
  if (!(error instanceof Refusal)) throw error;
  const { status, code, error: detail, facts }: Problem = error.problem;
  if (status < 500 && !OF_THE_MODEL.has(code)) throw error;
  return invalidTry(event, { code, detail }, facts?.llm as DryRun['llm']);
}

const invalidTry = (event: string, error: Try['error'], llm: DryRun['llm'] | undefined): Try => ({
  ...{ valid: false, event, eventVersion: null, stateChanges: {}, result: null, error },
  ...measuresOf(llm),
});

function measuresOf(llm: DryRun['llm'] | undefined) {
  const { model, attempts, usage, latencyMs } = llm ?? {};
  return {
    model: model ?? null,
    requests: attempts?.length ?? null,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    usd: usage?.usd ?? null,
    latencyMs: latencyMs ?? null,
  };
}
