import { describe, expect, it } from 'vitest';
import { createMeter } from './instruments.js';
import { startTelemetry } from './start-telemetry.js';

describe('startTelemetry', () => {
  it('shows what was counted on the metrics page', async () => {
    await using telemetry = await startTelemetry({ service: 'catalog', tracing: false, metrics: true });
    createMeter('catalog').createCounter('orrery_worlds_created').add(2, { outcome: 'ok' });
    const page = await telemetry.metricsPage();
    expect(page).toMatch(/orrery_worlds_created_total\{outcome="ok".*\} 2/);
    expect(page).toMatch(/^orrery_event_loop_delay_p99\{.*\} [\d.e-]+$/m);
  });

  it('tells of a gauge only what it observes now', async () => {
    await using telemetry = await startTelemetry({ service: 'catalog', tracing: false, metrics: true });
    let stopped = ['first', 'second'];
    createMeter('catalog')
      .createObservableGauge('orrery_stopped')
      .addCallback((result) => {
        for (const consumer of stopped) result.observe(1, { consumer });
      });
    const told = async () =>
      (await telemetry.metricsPage()).match(/(?<=^orrery_stopped\{consumer=")\w+/gm) ?? [];
    expect(await told()).toEqual(['first', 'second']);
    stopped = ['second'];
    expect(await told()).toEqual(['second']);
    stopped = [];
    expect(await told()).toEqual([]);
  });

  it('tells two that ask at once the same', async () => {
    await using telemetry = await startTelemetry({ service: 'catalog', tracing: false, metrics: true });
    const { promise, resolve } = Promise.withResolvers<void>();
    createMeter('catalog')
      .createObservableGauge('orrery_slow')
      .addCallback(async (result) => {
        await promise;
        result.observe(1);
      });
    const pages = [telemetry.metricsPage(), telemetry.metricsPage()];
    resolve();
    for (const page of await Promise.all(pages)) expect(page).toMatch(/^orrery_slow\{/m);
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
});
