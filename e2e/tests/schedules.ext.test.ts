import { startAllInOne } from '@orrery/testing/system';
import { expect, it, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { scheduledWorld } from '../src/worlds/scheduled-world.js';

it('a schedule fires by itself at the full minute, on the real clock', async () => {
  await using system = await startAllInOne();
  const api = apiClient(system.url, system.key);
  const deployment = await (await scheduledWorld(api, '* * * * *')).deploy();
  const fired = await vi.waitFor(
    async () => {
      const { body } = await api.get(`${deployment}/schedules/lap/occurrences?status=fired`);
      // The oldest: a slow machine may see the next one, too.
      const first = body.data.at(-1);
      expect(first).toBeDefined();
      return first;
    },
    { timeout: 300_000, interval: 200 },
  );
  expect(fired).toMatchObject({ counter: 1, outcome: 'succeeded', attempts: 1 });
  expect(Date.parse(fired.dueAt) % 60_000).toBe(0);
  expect(fired.startedAt >= fired.dueAt).toBe(true);
  const { body } = await api.get(`${deployment}/history/${fired.historyId}`);
  expect(body.data).toMatchObject({ result: { lap: 1, due: fired.dueAt } });
});
