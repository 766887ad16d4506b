import { parseArgs } from 'node:util';
import { runComparison } from './run-comparison.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '10' },
    'warm-up': { type: 'string', default: '15' },
    connections: { type: 'string', default: '64' },
    deployments: { type: 'string', default: '1000' },
    draft: { type: 'boolean', default: false },
  },
});
const write = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  await runComparison({
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    warmUpSeconds: Number(values['warm-up']),
    connections: Number(values.connections),
    deployments: Number(values.deployments),
    isDraft: values.draft,
    write,
  });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
}
