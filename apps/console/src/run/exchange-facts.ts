import type { JsonObject } from '@orrery/sdk';
import { isObject } from '../forms/json.js';

/** One request to a model's server. */
export interface Attempt {
  readonly form: string;
  /** Of the HTTP answer; undefined where none came. */
  readonly status: number | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly latencyMs: number | undefined;
  /** Why it gave no proposal; undefined for the one that did. */
  readonly error: string | undefined;
}

/** What of `llm` everybody sees (docs/ai.md), also where its texts are not shown. */
export interface ExchangeFacts {
  readonly model: string;
  readonly attempts: readonly Attempt[];
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** Undefined: the model has no price. */
  readonly usd: number | undefined;
  /** The server did not count all tokens. */
  readonly isEstimated: boolean;
  readonly latencyMs: number | undefined;
  /** What earlier decisions of the same execution took. */
  readonly earlier: readonly ExchangeFacts[];
}

/** Undefined where no model was asked. */
export function exchangeFacts(llm: unknown): ExchangeFacts | undefined {
  if (!isObject(llm)) return undefined;
  const usage = isObject(llm['usage']) ? llm['usage'] : {};
  return {
    model: String(llm['model']),
    attempts: listOf(llm['attempts']).filter(isObject).map(attemptOf),
    inputTokens: numberOf(usage['inputTokens']),
    outputTokens: numberOf(usage['outputTokens']),
    usd: numberOf(usage['usd']),
    isEstimated: usage['isEstimated'] === true,
    latencyMs: numberOf(llm['latencyMs']),
    earlier: listOf(llm['earlier']).flatMap((one) => exchangeFacts(one) ?? []),
  };
}

const attemptOf = ({ form, status, inputTokens, outputTokens, latencyMs, error }: JsonObject): Attempt => ({
  form: String(form),
  status: numberOf(status),
  inputTokens: numberOf(inputTokens),
  outputTokens: numberOf(outputTokens),
  latencyMs: numberOf(latencyMs),
  error: typeof error === 'string' ? error : undefined,
});

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
