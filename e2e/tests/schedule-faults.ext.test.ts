import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { expect, it } from 'vitest';
import { runFaults } from '../src/schedules/run-faults.js';

describeWithNats(
  'schedulers that are killed at random, with clocks five minutes apart',
  () => {
    it('account for each due time once, and execute none twice', async () => {
      const nats = await startNatsServer();
      await using database = await createTestDatabase();
      const report = await runFaults(database.url, nats.url).finally(nats.stop);
      expect(report).toMatchObject({ violations: [], duplicates: 0 });
      expect(report.due).toBe(report.fired + report.skipped + report.missed);
      expect(report.fired).toBeGreaterThan(0);
    });
  },
  { own: true },
);
