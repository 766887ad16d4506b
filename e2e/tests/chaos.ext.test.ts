import { describeWithNats } from '@orrery/testing';
import { expect, it } from 'vitest';
import { linesOf } from '../src/chaos/report.js';
import { runChaos } from '../src/chaos/run-chaos.js';

/** A plan in which runtimes are killed and frozen, and each server is lost in some way. */
const SEED = 1850;

// Twenty seconds of `npm run chaos` (docs/reliability.md): promises alone, no rates.
describeWithNats(
  'two processes of every service under load and faults',
  () => {
    it('break no promise, and answer nothing with 500', async () => {
      const options = { seed: SEED, lengthMs: 20_000, clients: 5, everyMs: 1200, keep: '' };
      const report = await runChaos({ ...options, write: () => undefined });
      const { violations, internal } = report;
      expect([violations, internal], linesOf(report).join('\n')).toEqual([[], []]);
      expect(report.played.length).toBeGreaterThan(5);
    });
  },
  { own: true },
);
