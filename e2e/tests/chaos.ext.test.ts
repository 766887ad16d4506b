import { describeWithNats } from '@orrery/testing';
import { expect, it } from 'vitest';
import { linesOf } from '../src/chaos/report.js';
import { runChaos } from '../src/chaos/run-chaos.js';

/** `CHAOS_MINUTES`: how long faults begin. `CHAOS_SEED`: of a run that is to be repeated. */
const MINUTES = Number(process.env['CHAOS_MINUTES'] || 10);
const SEED = Number(process.env['CHAOS_SEED'] || Math.floor(Math.random() * 1e9));
/** Beside the faults: the start, and the end of everything that was accepted. */
const MORE_MS = 700_000;

describeWithNats(
  `two processes of every service under load and faults for ${MINUTES} minutes, seed ${SEED}`,
  () => {
    it(
      'break no promise, and answer nothing with 500',
      async () => {
        const options = { seed: SEED, lengthMs: MINUTES * 60_000, clients: 12, everyMs: 2000, keep: '' };
        const report = await runChaos({ ...options, write: () => undefined });
        process.stdout.write(`${linesOf(report).join('\n')}\n`);
        expect([report.violations, report.internal]).toEqual([[], []]);
      },
      MINUTES * 60_000 + MORE_MS,
    );
  },
  { own: true },
);
