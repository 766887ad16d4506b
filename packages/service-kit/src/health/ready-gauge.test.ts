import { expect, it, onTestFinished } from 'vitest';
import { startTelemetry } from '../telemetry/start-telemetry.js';
import { type Clock, systemClock } from '../timing/clock.js';
import { type CheckResult, createHealth, startHealthServer } from './health.js';

const EVERY_MS = 5000;

/** The gauge as it is served, for a process whose time the test moves. */
async function serve() {
  let time = 0;
  const clock: Clock = { ...systemClock, monotonic: () => time };
  const telemetry = await startTelemetry({ service: 'catalog', tracing: false, metrics: true });
  onTestFinished(() => telemetry[Symbol.asyncDispose]());
  const health = createHealth({ clock });
  const options = { host: '127.0.0.1', port: 0, health, metrics: telemetry.metricsPage };
  const server = await startHealthServer(options);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const read = async () => {
    const page = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
    const samples = page.matchAll(/^orrery_ready\{check="([^"]+)".*\} (\d)$/gm);
    return Object.fromEntries([...samples].map(([, check, value]) => [check, Number(value)]));
  };
  const pass = (ms: number) => {
    time += ms;
  };
  return { health, read, pass };
}

it('tells of each check whether it lets requests be sent here, and of none that is gone that it does not', async () => {
  const { health, read, pass } = await serve();
  let bus: CheckResult = { status: 'ok' };
  const started = health.register('start', () => ({ status: 'unavailable', detail: 'starting' }));
  health.register('gateway redis', () => ({ status: 'degraded' }));
  health.register('gateway bus', () => bus);
  expect(await read()).toEqual({ start: 0, 'gateway redis': 1, 'gateway bus': 1 });
  started();
  bus = { status: 'unavailable' };
  pass(EVERY_MS);
  expect(await read()).toEqual({ start: 1, 'gateway redis': 1, 'gateway bus': 0 });
  bus = { status: 'ok' };
  pass(EVERY_MS);
  expect(await read()).toEqual({ start: 1, 'gateway redis': 1, 'gateway bus': 1 });
});

it('runs the checks for no collection that comes soon after a run, whoever asked for that', async () => {
  const { health, read, pass } = await serve();
  let runs = 0;
  health.register('gateway bus', () => {
    runs += 1;
    return { status: 'ok' };
  });
  await health.readiness();
  pass(EVERY_MS - 1);
  expect([await read(), await read(), runs]).toEqual([{ 'gateway bus': 1 }, { 'gateway bus': 1 }, 1]);
  pass(1);
  expect([await read(), await read(), runs]).toEqual([{ 'gateway bus': 1 }, { 'gateway bus': 1 }, 2]);
});
