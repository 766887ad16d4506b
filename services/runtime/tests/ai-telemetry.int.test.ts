import { type Attributes, type Span, type Tracer, type TracerProvider, trace } from '@opentelemetry/api';
import { startTelemetry } from '@orrery/service-kit';
import { fails, MISBEHAVIOUR, says, startModelServer } from '@orrery/testing/model-server';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { askingAt } from './ai-question.js';

const won = {
  stateChanges: { 'horse:HORSE_1': { wins: 4, name: 'Secretariat' } },
  result: { winner: 'HORSE_1' },
};
const server = await startModelServer({ behaves: says(won) });

interface Seen {
  readonly name: string;
  readonly attributes: Attributes;
  isEnded: boolean;
}

/** Collects spans in memory. */
function collectSpans(): { spans: Seen[]; provider: TracerProvider } {
  const spans: Seen[] = [];
  const begin = (name: string, attributes: Attributes = {}): Span => {
    const seen: Seen = { name, attributes: { ...attributes }, isEnded: false };
    spans.push(seen);
    const span = {
      setAttribute: (key: string, value: string) => Object.assign(seen.attributes, { [key]: value }),
      setAttributes: (more: Attributes) => Object.assign(seen.attributes, more),
      setStatus: (status: object) => Object.assign(seen.attributes, { status }),
      end: () => {
        seen.isEnded = true;
      },
    };
    return span as unknown as Span;
  };
  const startActiveSpan = (
    name: string,
    options: { attributes?: Attributes },
    run: (span: Span) => unknown,
  ) => run(begin(name, options.attributes));
  return { spans, provider: { getTracer: () => ({ startActiveSpan }) as unknown as Tracer } };
}

const { spans, provider } = collectSpans();
trace.setGlobalTracerProvider(provider);
const telemetry = await startTelemetry({ service: 'test', tracing: false, metrics: true });
afterAll(async () => {
  trace.disable();
  await telemetry[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  spans.length = 0;
});

const { ask, logged } = askingAt(server.baseUrl);
const { hostname, port } = new URL(server.baseUrl);
const asked = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'large-1',
  'server.address': hostname,
  'server.port': Number(port),
};

it('has one span for each attempt, by the names of the conventions', async () => {
  server.plan(fails(500), says('no'));
  await ask({ input: { story: 'swordfish' } });
  expect(spans.map(({ name, isEnded }) => [name, isEnded])).toEqual(Array(3).fill(['chat large-1', true]));
  expect(spans[0]?.attributes).toMatchObject({
    ...asked,
    'error.type': 'server_error',
    status: { message: 'server_error' },
  });
  const answered = {
    ...asked,
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 20,
  };
  expect(spans.slice(1).map(({ attributes }) => attributes)).toEqual([answered, answered]);
});

it('has the durations and tokens of attempts', async () => {
  server.plan(MISBEHAVIOUR['disconnect mid-answer']);
  await ask();
  const page = await telemetry.metricsPage();
  expect(page).toMatch(
    /gen_ai_client_operation_duration_count\{[^}]*gen_ai_request_model="large-1"[^}]*\} \d/,
  );
  expect(page).toMatch(/gen_ai_client_operation_duration_count\{[^}]*error_type="broken_answer"[^}]*\} 1/);
  expect(page).toMatch(/gen_ai_client_token_usage_sum\{[^}]*gen_ai_token_type="input"[^}]*\} \d+00/);
  expect(page).toMatch(/gen_ai_client_token_usage_bucket\{[^}]*gen_ai_token_type="output"[^}]*le="64"\} \d/);
});

it('never has the texts', async () => {
  server.plan(says({ 'horse:HORSE_1': { note: 'Secretariat' } }));
  await ask({ input: { story: 'swordfish' } });
  const seen = JSON.stringify([spans, await telemetry.metricsPage(), logged]);
  expect(seen).not.toMatch(/swordfish|Secretariat|It rains|fittest|sk-secret/);
});
