import { describe, expect, it } from 'vitest';
import { createMeter } from './instruments.js';
import { startTelemetry } from './start-telemetry.js';
import { injectTrace, withinTrace } from './trace-headers.js';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('startTelemetry', () => {
  it('shows what was counted on the metrics page', async () => {
    await using telemetry = await startTelemetry({ service: 'catalog', tracing: false, metrics: true });
    createMeter('catalog').createCounter('orrery_worlds_created').add(2, { outcome: 'ok' });
    const page = await telemetry.metricsPage();
    expect(page).toMatch(/orrery_worlds_created_total\{outcome="ok".*\} 2/);
    expect(page).toMatch(/^orrery_event_loop_delay_p99\{.*\} [\d.e-]+$/m);
  });

  it('tells what it knows also when another thread tells nothing, and that one until it leaves', async () => {
    await using telemetry = await startTelemetry({ service: 'catalog', tracing: false, metrics: false });
    telemetry.include(() => Promise.reject(new Error('gone')));
    const leave = telemetry.include(async () => '# HELP there one\n# TYPE there gauge\nthere 1\n');
    expect(await telemetry.metricsPage()).toContain('there 1');
    leave();
    expect(await telemetry.metricsPage()).toBe('');
  });

  it('counts into the void when it is off', async () => {
    await using telemetry = await startTelemetry({ service: 'catalog', tracing: false, metrics: false });
    createMeter('catalog').createCounter('orrery_worlds_created').add(2);
    expect(await telemetry.metricsPage()).toBe('');
  });

  it('carries a trace from the headers of one message to those of the next', async () => {
    await using _telemetry = await startTelemetry({ service: 'catalog', tracing: true, metrics: false });
    expect(withinTrace({ traceparent }, () => injectTrace({}))).toMatchObject({ traceparent });
    expect(injectTrace({})).toEqual({});
  });
});
