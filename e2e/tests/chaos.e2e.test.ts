import { describeWithNats } from '@orrery/testing';
import { expect, it } from 'vitest';
import { linesOf } from '../src/chaos/report.js';
import { runChaos } from '../src/chaos/run-chaos.js';

// Twenty seconds of `npm run chaos` (docs/reliability.md): promises alone, no rates.
describeWithNats(
  'two processes of every service under load and faults',
  () => {
    it('break no promise, and answer nothing with 500', async () => {
      const options = { seed: 20_261_123, lengthMs: 20_000, clients: 5, everyMs: 1500, keep: '' };
      const report = await runChaos({ ...options, write: () => undefined });
      const { violations, internal } = report;
      expect([violations, internal], linesOf(report).join('\n')).toEqual([[], []]);
      expect(report.played.length).toBeGreaterThan(5);
    });
  },
  { own: true },
);
