import { startTelemetry } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import { createHomeSignals } from './home-signals.js';

it('names its database, and counts partitions without owner there and in databases that nobody serves', async () => {
  await using telemetry = await startTelemetry({ service: 'runtime', tracing: false, metrics: true });
  const partitions: Readonly<Record<string, number[]>> = { a: [0, 2, 4], b: [1, 3], c: [5, 7] };
  const nameOf = vi.fn((id: string) => `name of ${id}`);
  const signals = createHomeSignals({
    id: 'a',
    all: () => ['a', 'b', 'c'],
    nameOf,
    partitionsOf: (id) => partitions[id] ?? [],
    isServed: (id) => id === 'b',
  });
  const told = async (metric: string) =>
    (await telemetry.metricsPage())
      .split('\n')
      .flatMap((line) => /^(\w+)\{.*home="([^"]*)".*\} (\d+)/.exec(line)?.slice(1, 4).join(' ') ?? [])
      .filter((line) => line.startsWith(`${metric} `))
      .map((line) => line.slice(metric.length + 1))
      .sort();
  expect(await told('orrery_runtime_home')).toEqual(['name of a 1']);
  const metric = 'orrery_runtime_partitions_without_owner';
  expect(await told(metric)).toEqual(['name of b 0', 'name of c 2']);
  signals.onBalance(new Set([2]));
  expect(await told(metric)).toEqual(['name of a 2', 'name of b 0', 'name of c 2']);
  signals.stop();
  nameOf.mockClear();
  await telemetry.metricsPage();
  expect(nameOf).not.toHaveBeenCalled();
});
