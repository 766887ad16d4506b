import { trace } from '@opentelemetry/api';
import { defineContract, rpc } from '@orrery/contracts';
import { createLogger, startTelemetry, systemClock, withinTrace } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createBus } from './bus.js';
import { createInProcessExchange } from './in-process/exchange.js';
import { createSwitchboard } from './in-process/switchboard.js';

const contract = defineContract('echo', {
  'echo.trace': rpc({
    request: z.strictObject({}),
    reply: z.strictObject({ traceId: z.string() }),
    errors: [],
    access: { scope: 'none', relation: 'internal' },
  }),
});

it('continues the trace of the caller in the handler', async () => {
  await using _telemetry = await startTelemetry({ service: 'echo', tracing: true, metrics: false });
  const exchange = createInProcessExchange(createSwitchboard());
  const facts = { append: async () => [], read: async () => undefined };
  const transport = { exchange, facts, health: () => ({ ok: true }), close: async () => undefined };
  const logger = createLogger({ service: 'echo', level: 'silent' });
  const bus = createBus(transport, { service: 'echo', clock: systemClock, logger });
  const traceId = () => trace.getActiveSpan()?.spanContext().traceId ?? 'none';
  await bus.serve(contract, { 'echo.trace': async () => ({ traceId: traceId() }) });
  const call = () =>
    bus.call(
      contract.rpcs['echo.trace'],
      {},
      { caller: { kind: 'anonymous' }, requestId: 'r', deadline: Date.now() + 5000 },
    );
  // Not sampled, so there is nothing to export.
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
  const reply = await withinTrace({ traceparent }, call);
  expect(reply.traceId).toBe('0af7651916cd43dd8448eb211c80319c');
});
