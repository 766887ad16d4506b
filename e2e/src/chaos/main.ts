import { parseArgs } from 'node:util';
import { isSound, linesOf } from './report.js';
import { runChaos } from './run-chaos.js';

// `npm run chaos -- --minutes 30 --seed 7` (docs/reliability.md).

const { values } = parseArgs({
  options: {
    /** Faults and operations follow from it. */
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    minutes: { type: 'string', default: '5' },
    clients: { type: 'string', default: '12' },
    /** Seconds between two faults, on average. */
    every: { type: 'string', default: '2' },
    /** A folder for the logs of the processes. */
    keep: { type: 'string', default: '' },
  },
});
const write = (line: string): void => void process.stdout.write(`${line}\n`);

const report = await runChaos({
  seed: Number(values.seed),
  lengthMs: Number(values.minutes) * 60_000,
  clients: Number(values.clients),
  everyMs: Number(values.every) * 1000,
  keep: values.keep,
  write,
});
for (const line of linesOf(report)) write(line);
// Connections that the faults broke may be waited for long after the report.
process.exit(isSound(report) ? 0 : 1);
