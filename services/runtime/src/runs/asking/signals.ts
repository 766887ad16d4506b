import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { createMeter, createTracer, isMetered, isTraced } from '@orrery/service-kit';
import type { Model } from '../../core/models/model.js';
import { type ChatAnswer, ChatFailed } from './chat-client.js';

/** Telemetry of requests to models, by the names of OpenTelemetry's GenAI conventions. It never holds their texts. */
export interface ModelSignals {
  attempted(model: Model, attempt: () => Promise<ChatAnswer>): Promise<ChatAnswer>;
}

type Watch = ModelSignals['attempted'];
type Attributes = Record<string, string | number | string[]>;

/** The buckets that the conventions advise, in seconds and in tokens. */
const DURATIONS = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Makes no span and takes no time where no SDK would collect it. */
export function createModelSignals(service: string): ModelSignals {
  const metered = isMetered() ? createMetrics(service) : unwatched;
  return { attempted: isTraced() ? createSpans(service, metered) : metered };
}

const unwatched: Watch = (_model, attempt) => attempt();

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
  return async (model, attempt) => {
    const startedAt = performance.now();
    const attributes = attributesOf(model);
    const note = (more: Attributes) =>
      durations.record((performance.now() - startedAt) / 1000, { ...attributes, ...more });
    try {
      const answer = await attempt();
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
  return (model, attempt) => {
    const options = { kind: SpanKind.CLIENT, attributes: attributesOf(model) };
    return tracer.startActiveSpan(`chat ${model.upstreamModel}`, options, async (span) => {
      try {
        const answer = await watched(model, attempt);
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
