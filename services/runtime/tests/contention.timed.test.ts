import { setTimeout } from 'node:timers/promises';
import { startPace } from '@orrery/contracts/test-support';
import { expect, it } from 'vitest';
import { judgeVersion } from './fake-catalog.js';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
house.catalog.plantVersion({ ...judgeVersion, event: 'judge', versionId: 80 });

const MODEL_MS = 5;
/**
 * What the three commits of one run, and the steps between them, may take beside the model: 4 ms on a quiet machine. When every step woke all waiting runs, 200 runs took 14 s.
 */
const OVERHEAD_MS = 45;

it.each([25, 50, 100, 200])('%i runs that change one instance follow each other', async (count) => {
  let decisions = 0;
  await using _runtime = await house.boot({
    decider: async () => {
      decisions += 1;
      await setTimeout(MODEL_MS);
      return { mutation: { 'counter:hot': { count: decisions } } };
    },
  });
  const { params, createCounter, counter } = await plantDeployment(house, {
    bindings: [{ event: 'judge', eventVersion: 1 }],
  });
  await createCounter('hot');
  using pace = startPace();
  const began = performance.now();
  const body = { event: 'judge', input: { id: 'hot' } };
  // A slow machine refuses some of so many at once, before anything has happened.
  const execution = (): Promise<unknown> =>
    house.call('deployments.execute', { params, body }, { patience: 600_000 }).catch((error) => {
      if (error.code !== 'overloaded') throw error;
      return execution();
    });
  await Promise.all(Array.from({ length: count }, execution));
  const elapsed = performance.now() - began;
  process.stdout.write(`${count} runs: ${Math.round(elapsed)} ms, ${decisions} decisions\n`);
  expect(await counter('hot')).toMatchObject({ revision: count + 1 });
  expect(decisions).toBeLessThanOrEqual(2 * count);
  expect(elapsed).toBeLessThan((500 + count * (MODEL_MS + OVERHEAD_MS)) * pace.slowness());
});
