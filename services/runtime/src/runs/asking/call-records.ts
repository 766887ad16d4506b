import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { cutText, type JsonObject } from '@orrery/contracts';
import { type Clock, createMeter, createTracer, isMetered, isTraced } from '@orrery/service-kit';
import {
  type Evidence,
  evidenceOfExchange,
  type Model,
  type ModelCallRecord,
  type ModelUsage,
  priced,
} from '../../core/models/model.js';
import { type ChatAnswer, ChatFailed } from './chat-client.js';

/** Collects what one decision sends and receives, and what it costs. */
export interface ExchangeRecord {
  /** Whether anything was sent. */
  readonly hasBegun: boolean;
  sent(request: JsonObject): void;
  answered(text: string | null, attestation: JsonObject | null): void;
  /** `usage`: what the call is charged; `isEstimated`: the server has not counted it. */
  called(call: ModelCallRecord, usage: ModelUsage, isEstimated: boolean): void;
  /** The last call's answer is no proposal. */
  refused(code: string, reason: string): void;
  /** `undefined` as long as nothing was sent. */
  evidence(): Evidence | undefined;
}

const MAX_REASON = 4000;

export function startExchange(clock: Pick<Clock, 'monotonic'>, model: Model): ExchangeRecord {
  const startedAt = clock.monotonic();
  const calls: ModelCallRecord[] = [];
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
    called: (call, usage, estimated) => {
      calls.push(call);
      tokens.inputTokens += usage.inputTokens;
      tokens.outputTokens += usage.outputTokens;
      isEstimated ||= estimated;
    },
    refused: (code, reason) => {
      const last = calls.pop();
      if (last !== undefined) calls.push({ ...last, error: code });
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
          attempts: calls,
          usage: { ...priced(model, tokens), isEstimated },
          latencyMs: clock.monotonic() - startedAt,
        },
        attestation,
      ),
  };
}

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** Telemetry of requests to models, by the names of OpenTelemetry's GenAI conventions. It never holds their texts. */
export interface ModelSignals {
  called(model: Model, call: () => Promise<ChatAnswer>): Promise<ChatAnswer>;
}

type Watch = ModelSignals['called'];
type Attributes = Record<string, string | number | string[]>;

/** The buckets that the conventions advise, in seconds and in tokens. */
const DURATIONS = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Makes no span and takes no time where no SDK would collect it. */
export function createModelSignals(service: string): ModelSignals {
  const metered = isMetered() ? createMetrics(service) : unwatched;
  return { called: isTraced() ? createSpans(service, metered) : metered };
}

const unwatched: Watch = (_model, call) => call();

function attributesOf({ baseUrl, upstreamModel }: Model): Attributes {
  const { hostname, port, protocol } = new URL(baseUrl);
  return {
    'gen_ai.operation.name': 'chat',
    // The servers are known by their interface only.
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': upstreamModel,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  };
}

const errorType = (error: unknown): string => (error instanceof ChatFailed ? error.fault : 'cancelled');

function createMetrics(service: string): Watch {
  const meter = createMeter(service);
  const durations = meter.createHistogram('gen_ai.client.operation.duration', {
    unit: 's',
    advice: { explicitBucketBoundaries: DURATIONS },
  });
  const tokens = meter.createHistogram('gen_ai.client.token.usage', {
    unit: '{token}',
    advice: { explicitBucketBoundaries: TOKENS },
  });
  return async (model, call) => {
    const startedAt = performance.now();
    const attributes = attributesOf(model);
    const note = (more: Attributes) =>
      durations.record((performance.now() - startedAt) / 1000, { ...attributes, ...more });
    try {
      const answer = await call();
      note({});
      if (answer.usage === null) return answer;
      tokens.record(answer.usage.inputTokens, { ...attributes, 'gen_ai.token.type': 'input' });
      tokens.record(answer.usage.outputTokens, { ...attributes, 'gen_ai.token.type': 'output' });
      return answer;
    } catch (error) {
      note({ 'error.type': errorType(error) });
      throw error;
    }
  };
}

function createSpans(service: string, watched: Watch): Watch {
  const tracer = createTracer(service);
  return (model, call) => {
    const options = { kind: SpanKind.CLIENT, attributes: attributesOf(model) };
    return tracer.startActiveSpan(`chat ${model.upstreamModel}`, options, async (span) => {
      try {
        const answer = await watched(model, call);
        span.setAttributes(answerAttributes(answer));
        return answer;
      } catch (error) {
        span.setAttribute('error.type', errorType(error));
        span.setStatus({ code: SpanStatusCode.ERROR, message: errorType(error) });
        throw error;
      } finally {
        span.end();
      }
    });
  };
}

const answerAttributes = ({ message, usage }: ChatAnswer): Attributes => ({
  ...(message.finishReason === null ? {} : { 'gen_ai.response.finish_reasons': [message.finishReason] }),
  ...(usage === null
    ? {}
    : { 'gen_ai.usage.input_tokens': usage.inputTokens, 'gen_ai.usage.output_tokens': usage.outputTokens }),
});
