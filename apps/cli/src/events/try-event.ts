import type { JsonObject, JsonValue } from '@orrery/contracts';
import { findDeployment } from '../operations/references.js';
import { askServer, Refusal, type ServerAnswer } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';

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

/** Makes dry runs one after the other. @throws StartupError for a request that would be refused every time */
export async function tryEvent(server: Server, request: TryRequest): Promise<Try[]> {
  const { event, input, version, model, deployment } = request;
  const reference = request.world === undefined ? deployment : `${request.world}/${deployment}`;
  const { worldAddress, address } = await findDeployment(server, reference);
  const query = new URLSearchParams({ dryRun: 'true' });
  if (version !== undefined) query.set('eventVersion', String(version));
  if (model !== undefined) query.set('aiModelId', model);
  const path = `/worlds/${worldAddress}/deployments/${address}/execute?${query}`;
  const tries: Try[] = [];
  for (let run = 0; run < request.times; run += 1) {
    const answer = await askServer(server, 'POST', path, { event, input });
    if (answer.status >= 400 && answer.status < 500 && !OF_THE_MODEL.has(answer.code ?? ''))
      throw new Refusal(server, { method: 'POST', path: `/api${path}` }, answer);
    tries.push(toTry(event, answer));
  }
  return tries;
}

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

function toTry(event: string, { status, data, code = '', error = '', facts }: ServerAnswer): Try {
  const ran = status < 300 ? (data as DryRun) : undefined;
  const { model, attempts, usage, latencyMs } = ran?.llm ?? (facts?.llm as DryRun['llm']) ?? {};
  return {
    valid: ran !== undefined,
    event,
    eventVersion: ran?.eventVersion ?? null,
    model: model ?? null,
    stateChanges: ran?.stateChanges ?? {},
    result: ran?.result ?? null,
    requests: attempts?.length ?? null,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    usd: usage?.usd ?? null,
    latencyMs: latencyMs ?? null,
    error: ran === undefined ? { code, detail: error } : null,
  };
}
