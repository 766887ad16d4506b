import { startTelemetry } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import { MINUTE, prepareHouse } from './running-scheduler.js';

const { fake, boot, hint, jump, now } = await prepareHouse();

it('of a scheduler that does not keep up is the age of what it has not decided', async () => {
  await using telemetry = await startTelemetry({ service: 'scheduler', tracing: false, metrics: true });
  const lag = async () =>
    Number(/^orrery_scheduler_lag_seconds(?:\{.*\})? (\S+)$/m.exec(await telemetry.metricsPage())?.[1]);
  // Sends one of them, and then rests: the clock of the process stands still.
  await using scheduler = await boot({ concurrency: 1, perSecond: 1 });
  const addresses = Array.from({ length: 8 }, () =>
    fake.deploy({ train: fake.version('train', 1, { schedule: '5 * * * *' }) }),
  );
  await hint(...addresses);
  jump(5 * MINUTE - (now() % (60 * MINUTE)));
  // A reading that takes long tells nothing.
  await vi.waitFor(async () => expect(await lag()).toBe(0));
  jump(90_000);
  while ((await scheduler.firing.loop.runOnce()) === 'more');
  await vi.waitFor(async () => expect(await lag()).toBe(90));
});
