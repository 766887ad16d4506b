import type { AiModelRecord } from '@orrery/contracts';

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

type TokenPrices = Pick<Model, 'inputUsdPerMillionTokens' | 'outputUsdPerMillionTokens'>;

/** Tokens with their price in US dollars; null for a model without prices. */
export function priced(
  prices: TokenPrices,
  { inputTokens, outputTokens }: Pick<ModelUsage, 'inputTokens' | 'outputTokens'>,
): ModelUsage {
  const { inputUsdPerMillionTokens: input = 0, outputUsdPerMillionTokens: output = 0 } = prices;
  const usd = isPriced(prices) ? (inputTokens * input + outputTokens * output) / 1_000_000 : null;
  return { inputTokens, outputTokens, usd };
}
