import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '@orrery/embedded-postgres';
import { Resources } from '@orrery/service-kit';
import { startNatsServer } from '@orrery/testing/servers';
import { runFaults } from './run-faults.js';

// The fault run of schedules as a program: `node e2e/dist/schedules/main.js --schedules 500 --seconds 150`.

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '500' },
    schedulers: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '150' },
    speed: { type: 'string', default: '20' },
  },
});
const write = (line: string): void => void process.stdout.write(`${line}\n`);

await using resources = new Resources();
const folder = await mkdtemp(join(tmpdir(), 'orrery-faults-'));
resources.add('folder', () => rm(folder, { recursive: true, force: true }));
const dataDirectory = join(folder, 'postgres');
const postgres = resources.use('postgres', await startEmbeddedPostgres({ dataDirectory }));
const nats = resources.use('nats', await startNatsServer());
const report = await runFaults({
  databaseUrl: postgres.url,
  natsUrl: nats.url,
  schedules: Number(values.schedules),
  schedulers: Number(values.schedulers),
  speed: Number(values.speed),
  seconds: Number(values.seconds),
  write,
});
write(JSON.stringify(report, null, 2));
process.exitCode = report.violations.length + report.duplicates > 0 ? 1 : 0;
