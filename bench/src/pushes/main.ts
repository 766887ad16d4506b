import { parseArgs } from 'node:util';
import { runPushes } from './run-pushes.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '8' },
    connections: { type: 'string', default: '64' },
    single: { type: 'string', default: '20' },
    backlog: { type: 'string', default: '2000' },
  },
});

try {
  await runPushes({
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    connections: Number(values.connections),
    single: Number(values.single),
    backlog: Number(values.backlog),
    write: (line) => void process.stdout.write(`${line}\n`),
  });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
}
