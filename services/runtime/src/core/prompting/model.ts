import {
  type AiModelRecord,
  canonicalHash,
  didYouMean,
  fieldProblem,
  type JsonObject,
  ServiceError,
  storableObject,
  type VersionDefinition,
  type WorldTexts,
} from '@orrery/contracts';
import type { Recalled } from '@orrery/deciding';

/** A model of the operator's list: what callers see of it, and how it is reached. */
export interface Model {
  readonly record: AiModelRecord;
  /** Of an OpenAI-compatible server, with its version segment, for instance `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** A secret; absent for a server that asks for none. */
  readonly apiKey: string | undefined;
  /** The model's name at its server. */
  readonly upstreamModel: string;
  readonly inputUsdPerMillionTokens?: number;
  readonly outputUsdPerMillionTokens?: number;
  /** Of one call, in milliseconds. */
  readonly timeoutMs: number;
  /** Calls at once by one process; unlimited when absent. */
  readonly maxConcurrency?: number;
  /** Where an answer carries its attestation; absent for a server that gives none. */
  readonly attestation?: { readonly from: 'header' | 'body'; readonly name: string };
}

type Prices = Pick<Model, 'inputUsdPerMillionTokens' | 'outputUsdPerMillionTokens'>;

/** A model with one of the two prices costs nothing for the other kind of token. */
export const isPriced = ({ inputUsdPerMillionTokens, outputUsdPerMillionTokens }: Prices): boolean =>
  inputUsdPerMillionTokens !== undefined || outputUsdPerMillionTokens !== undefined;

/** Tokens and price of one request to a model's server; `usd` is null for a model without prices. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number | null;
}

/** Tokens with their price in US dollars; null for a model without prices. */
export function priced(
  prices: Prices,
  { inputTokens, outputTokens }: Pick<ModelUsage, 'inputTokens' | 'outputTokens'>,
): ModelUsage {
  const { inputUsdPerMillionTokens: input = 0, outputUsdPerMillionTokens: output = 0 } = prices;
  const usd = isPriced(prices) ? (inputTokens * input + outputTokens * output) / 1_000_000 : null;
  return { inputTokens, outputTokens, usd };
}

/** The models that the operator offers; another list may take the place of this one while the process runs. */
export interface ModelList {
  offered: readonly Model[];
}

const findModel = ({ offered }: ModelList, modelId: string | null): Model | undefined =>
  offered.find(({ record }) => record.modelId === modelId);

/** The model of a deployment that has chosen none; null when the list marks none as its default. */
export const defaultModelId = ({ offered }: ModelList): string | null =>
  offered.find(({ record }) => record.isDefault)?.record.modelId ?? null;

/** @throws `unknown_ai_model` for a model that is not offered; null and absent choose none */
export function refuseUnknownModel(
  models: ModelList,
  modelId: string | null | undefined,
  pointer = '/aiModelId',
): void {
  if (modelId == null || findModel(models, modelId) !== undefined) return;
  const known = models.offered.map(({ record }) => record.modelId);
  const message = `There is no AI model "${modelId}".${didYouMean(modelId, known)} GET /api/ai-models lists them.`;
  const errors = [fieldProblem(pointer, 'unknown_ai_model', message)];
  throw new ServiceError('unknown_ai_model', message, { errors });
}

/**
 * A budget bounds what a model costs, so the model needs prices. A model that is not offered is left to whoever calls it.
 * @throws `ai_model_unpriced`
 */
export function refuseUnpriced(
  models: ModelList,
  modelId: string | null,
  dailyBudgetUsd: number | null,
  pointer: '/aiModelId' | '/aiDailyBudgetUsd',
): void {
  const model = findModel(models, modelId ?? defaultModelId(models));
  if (dailyBudgetUsd === null || model === undefined || isPriced(model)) return;
  const message = `The AI model "${model.record.modelId}" has no prices, so no budget can bound what it costs.`;
  const errors = [fieldProblem(pointer, 'ai_model_unpriced', message)];
  throw new ServiceError('ai_model_unpriced', message, { errors });
}

/** The model with this id. @throws `ai_model_unavailable` for null and for a model that is not offered (any more) */
export function usableModel(models: ModelList, modelId: string | null): Model {
  const model = findModel(models, modelId);
  if (model !== undefined) return model;
  throw new ServiceError(
    'ai_model_unavailable',
    modelId === null
      ? 'The deployment has chosen no AI model, and this service has no default. GET /api/ai-models lists what can be chosen.'
      : `The AI model "${modelId}" is not offered any more. An upgradable deployment can choose another one.`,
  );
}

/** Everything that a decision may depend on, as the execution read it, and what a decider asks of the runtime. */
export interface DeciderRequest {
  readonly executionId: string;
  readonly deployment: { readonly address: string; readonly worldAddress: string };
  /** Of the deployment's owner. */
  readonly accountId: number;
  /** Its `schemas` are those that the version names, with their attributes. */
  readonly definition: VersionDefinition;
  /** The texts of a locked deployment are those of its lock. */
  readonly world: WorldTexts;
  /** The locked or chosen model, or the default. */
  readonly model: Model;
  readonly input: JsonObject;
  /** Schema → instanceId → state, with defaults. */
  readonly entities: JsonObject;
  /** What is remembered of the journal; undefined: the version does not ask for it. */
  readonly history?: Recalled | undefined;
  /** In milliseconds, by the monotonic clock; a later answer is not used. */
  readonly deadline: number;
  /** The execution holds what it has read: others wait for it. */
  readonly isHolding: boolean;
  readonly check: CheckProposal;
  readonly budget: Budget;
}

/**
 * Why this mutation (in its plain form) would be refused if it were committed now; `undefined` for one that would be
 * accepted, and where that cannot be told, for instance because the data read have changed meanwhile. Nothing is
 * committed.
 */
export type CheckProposal = (mutation: JsonObject) => Promise<RefusedProposal | undefined>;

export interface RefusedProposal {
  /** For the model. */
  readonly reason: string;
  /** Where the code of the version failed: for those who may see it, to whom the model does not belong. */
  readonly cause?: unknown;
}

/** The budgets that the calls of one execution are paid from. */
export interface Budget {
  /**
   * Sets aside what one request may cost at most. Each reservation is settled, whatever becomes of the request. A database
   * that is slow or away is waited for until the signal aborts.
   * @throws `budget_exhausted` when a budget of today (UTC) does not cover it, `ai_model_unpriced`, or the signal's reason
   */
  reserve(most: ModelUsage, signal: AbortSignal): Promise<Reservation>;
}

interface Reservation {
  /** Counts what the request cost, and releases the rest. Resolves soon, also while the database is away. */
  settle(actual: ModelUsage): Promise<void>;
}

/** A mutation in its plain form, with what the entry records of the model. It is stored before it is applied. */
export interface DeciderAnswer extends Partial<Evidence> {
  readonly mutation: JsonObject;
}

/**
 * Decides the executions of versions that have no template, for instance by a model. It is called outside any
 * transaction and lane. It is called again for the same run when the data read have changed, or when the deployment's
 * owner was lost before the answer was stored. What it throws fails the execution; a `DeciderFailed` also says what the
 * call has cost.
 */
export interface Decider {
  (request: DeciderRequest, signal: AbortSignal): Promise<DeciderAnswer>;
  /**
   * Refuses an execution before it is accepted, where too many of the account wait for the model. Left out: any number
   * may wait. @throws `too_many_waiting`
   */
  readonly refuseCrowd?: (accountId: number, modelId: string) => void;
}

/** The decider gave no usable answer: the execution fails with `cause`. */
export class DeciderFailed extends Error {
  override readonly name = 'DeciderFailed';
  readonly evidence: Evidence;

  constructor(cause: unknown, evidence: Partial<Evidence> = {}) {
    super('the decider gave no usable answer', { cause });
    this.evidence = evidenceOf(evidence);
  }
}

/** What one decision of a model leaves: its exchange and cost, the hash of the exchange, and the server's attestation. */
export interface Evidence {
  readonly llm: JsonObject | null;
  readonly llmHash: string | null;
  readonly attestation: JsonObject | null;
}

/** The form of output that a call asked for. */
export type OutputForm = 'strict' | 'json' | 'text';

/** One request to a model's server. None of its members holds a text sent to or received from the model. */
export type ModelCallRecord = {
  readonly form: OutputForm;
  /** Of the HTTP response; null where none arrived. */
  readonly status: number | null;
  readonly finishReason: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly latencyMs: number;
  /** Why the call gave no proposal; null for the one that did. */
  readonly error: string | null;
};

/**
 * `llm` of a history entry. `request`, `response` and `reasons` are its texts (`LLM_TEXTS`). Where the server stands is
 * the operator's affair and no part of it.
 */
export type ModelExchange = {
  readonly model: string;
  readonly temperature: number | null;
  readonly seed: number | null;
  /** The last request, as it was sent. */
  readonly request: JsonObject;
  /** The last answer's text; null where none arrived. */
  readonly response: string | null;
  /** Why answers were no proposals, in their order. */
  readonly reasons: readonly string[];
  readonly attempts: readonly ModelCallRecord[];
  /** Of all calls; `usd` is null for a model without prices. */
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly usd: number | null;
    /** Whether the server did not count the tokens of every call. */
    readonly isEstimated: boolean;
  };
  /** From the first request to the last answer. */
  readonly latencyMs: number;
};

/** The evidence of an exchange: `llmHash` is the SHA-256 of the RFC 8785 JSON of its model, request and response. */
export function evidenceOfExchange(exchange: ModelExchange, attestation: JsonObject | null): Evidence {
  const llm = storableObject(exchange);
  const { model = null, request = null, response = null } = llm;
  return evidenceOf({ llm, llmHash: canonicalHash({ model, request, response }), attestation });
}

/** Evidence of a decider's answer, made storable. */
export const evidenceOf = ({ llm, llmHash, attestation }: Partial<Evidence>): Evidence => ({
  llm: llm ? storableObject(llm) : null,
  llmHash: llmHash ?? null,
  attestation: attestation ? storableObject(attestation) : null,
});
