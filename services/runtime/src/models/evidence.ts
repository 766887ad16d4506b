import { canonicalHash, type JsonObject, storableObject } from '@orrery/contracts';

/** What one decision of a model leaves: its exchange and cost, the hash of the exchange, and the server's attestation. */
export interface Evidence {
  readonly llm: JsonObject | null;
  readonly llmHash: string | null;
  readonly attestation: JsonObject | null;
}

/** The form of output that a call asked for. */
export type OutputForm = 'strict' | 'json' | 'text';

/** One request to a model's server. None of its members holds a text sent to or received from the model. */
export type ModelAttempt = {
  readonly form: OutputForm;
  /** Of the HTTP response; null where none arrived. */
  readonly status: number | null;
  readonly finishReason: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly latencyMs: number;
  /** Why the attempt gave no proposal; null for the one that did. */
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
  readonly attempts: readonly ModelAttempt[];
  /** Of all attempts; `usd` is null for a model without prices. */
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly usd: number | null;
    /** Whether the server did not count the tokens of every attempt. */
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
