import { trace } from '@opentelemetry/api';
import { defineContract, rpc, ServiceError } from '@orrery/contracts';
import { createLogger, startTelemetry, systemClock } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createBus } from './bus.js';
import { createRouter, routerExchange } from './in-process/hub.js';
import type { Bus } from './ports/bus-port.js';
import { withinTrace } from './wire/wire-format.js';

const contract = defineContract('echo', {
  'echo.trace': rpc({
    request: z.strictObject({}),
    reply: z.strictObject({ traceId: z.string() }),
    errors: [],
    access: { scope: 'none', relation: 'internal' },
  }),
});

function openBus() {
  const exchange = routerExchange(createRouter());
  const facts = { append: async () => [], read: async () => undefined };
  const transport = { exchange, facts, health: () => ({ ok: true }), close: async () => undefined };
  const logger = createLogger({ service: 'echo', level: 'silent' });
  return createBus(transport, { service: 'echo', clock: systemClock, logger });
}

const echo = (bus: Bus) =>
  bus.call(
    contract.rpcs['echo.trace'],
    {},
    { caller: { kind: 'anonymous' }, requestId: 'r', deadline: Date.now() + 5000 },
  );

it('continues the trace of the caller in the handler', async () => {
  await using _telemetry = await startTelemetry({ service: 'echo', tracing: true, metrics: false });
  const bus = openBus();
  const traceId = () => trace.getActiveSpan()?.spanContext().traceId ?? 'none';
  await bus.serve(contract, { 'echo.trace': async () => ({ traceId: traceId() }) });
  // Not sampled, so there is nothing to export.
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
  const reply = await withinTrace({ traceparent }, () => echo(bus));
  expect(reply.traceId).toBe('0af7651916cd43dd8448eb211c80319c');
});

it('times each call on both sides, by what came of it', async () => {
  await using telemetry = await startTelemetry({ service: 'echo', tracing: false, metrics: true });
  const bus = openBus();
  let calls = 0;
  await bus.serve(contract, {
    'echo.trace': async () => {
      calls += 1;
      if (calls === 1) throw new ServiceError('overloaded');
      return { traceId: '' };
    },
  });
  await expect(echo(bus)).rejects.toMatchObject({ code: 'overloaded' });
  await echo(bus);
  const page = await telemetry.metricsPage();
  for (const side of ['call', 'answer'])
    for (const code of ['ok', 'overloaded'])
      expect(page).toMatch(
        new RegExp(`^orrery_bus_${side}_duration_count{rpc="echo.trace",code="${code}".*} 1$`, 'm'),
      );
});
