import { startTelemetry } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import { schedulerSignals } from './signals.js';

const page = async (readLag: () => Promise<number>) => {
  await using telemetry = await startTelemetry({ service: 'scheduler', tracing: false, metrics: true });
  schedulerSignals(readLag);
  return telemetry.metricsPage();
};

it('tells how late it is as it is read for each page, and nothing where it cannot be read', async () => {
  expect(await page(async () => 90_000)).toMatch(/^orrery_scheduler_lag_seconds(\{.*\})? 90$/m);
  expect(await page(() => Promise.reject(new Error('away')))).not.toMatch(/^orrery_scheduler_lag_seconds/m);
});

const fired = (outcome: 'succeeded' | 'failed') => ({ status: 'fired', outcome, reason: null }) as const;
const skipped = (reason: string) => ({ status: 'skipped', outcome: null, reason }) as const;

it('counts each of the occurrences that end together, by status and outcome or reason', async () => {
  await using telemetry = await startTelemetry({ service: 'scheduler', tracing: false, metrics: true });
  const signals = schedulerSignals(async () => 0);
  signals.ended([fired('succeeded'), skipped('deployment_paused'), fired('succeeded'), fired('failed')]);
  signals.ended([fired('succeeded'), skipped('overlap')]);
  const page = await telemetry.metricsPage();
  const counted = [...page.matchAll(/^orrery_scheduler_occurrences_total\{(.*)\} (\d+)$/gm)].map(
    ([, labels = '', count]) => {
      const label = (name: string) => new RegExp(`${name}="(\\w*)"`).exec(labels)?.[1];
      return `${label('status')} ${label('detail')} ${count}`;
    },
  );
  expect(counted.sort()).toEqual([
    'fired failed 1',
    'fired succeeded 3',
    'skipped deployment_paused 1',
    'skipped overlap 1',
  ]);
});
