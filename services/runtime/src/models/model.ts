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
