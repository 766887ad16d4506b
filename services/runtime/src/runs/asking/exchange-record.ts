import { cutText, type JsonObject } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { type Evidence, evidenceOfExchange, type ModelCallRecord } from '../../core/models/decider.js';
import { type Model, type ModelUsage, priced } from '../../core/models/model.js';

/** Collects what one decision sends and receives, and what it costs. */
export interface ExchangeRecord {
  /** Whether anything was sent. */
  readonly hasBegun: boolean;
  sent(request: JsonObject): void;
  answered(text: string | null, attestation: JsonObject | null): void;
  /** `usage`: what the attempt is charged; `isEstimated`: the server has not counted it. */
  attempted(attempt: ModelCallRecord, usage: ModelUsage, isEstimated: boolean): void;
  /** The last attempt's answer is no proposal. */
  refused(code: string, reason: string): void;
  /** `undefined` as long as nothing was sent. */
  evidence(): Evidence | undefined;
}

const MAX_REASON = 4000;

export function startExchange(clock: Pick<Clock, 'monotonic'>, model: Model): ExchangeRecord {
  const startedAt = clock.monotonic();
  const attempts: ModelCallRecord[] = [];
  const reasons: string[] = [];
  const tokens = { inputTokens: 0, outputTokens: 0 };
  let isEstimated = false;
  let request: JsonObject | undefined;
  let response: string | null = null;
  let attestation: JsonObject | null = null;
  return {
    get hasBegun() {
      return request !== undefined;
    },
    sent: (body) => {
      request = body;
      response = null;
      attestation = null;
    },
    answered: (text, given) => {
      response = text;
      attestation = given;
    },
    attempted: (attempt, usage, estimated) => {
      attempts.push(attempt);
      tokens.inputTokens += usage.inputTokens;
      tokens.outputTokens += usage.outputTokens;
      isEstimated ||= estimated;
    },
    refused: (code, reason) => {
      const last = attempts.pop();
      if (last !== undefined) attempts.push({ ...last, error: code });
      reasons.push(cutText(reason, MAX_REASON));
    },
    evidence: () =>
      request &&
      evidenceOfExchange(
        {
          model: model.record.modelId,
          temperature: numberOrNull(request['temperature']),
          seed: numberOrNull(request['seed']),
          request,
          response,
          reasons,
          attempts,
          usage: { ...priced(model, tokens), isEstimated },
          latencyMs: clock.monotonic() - startedAt,
        },
        attestation,
      ),
  };
}

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);
