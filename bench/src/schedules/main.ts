import { parseArgs } from 'node:util';
import { runSchedules } from './run-schedules.js';

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '10000' },
    idle: { type: 'string', default: '100000' },
    'api-per-second': { type: 'string', default: '50' },
    lead: { type: 'string', default: '90' },
  },
});

try {
  await runSchedules({
    schedules: Number(values.schedules),
    idle: Number(values.idle),
    apiPerSecond: Number(values['api-per-second']),
    leadSeconds: Number(values.lead),
    write: (line) => void process.stdout.write(`${line}\n`),
  });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
}
