// DBOS's form of the benchmark's event: a workflow of one step, called in its own process, without HTTP. Writes one line
// of JSON with what it measured. Usage: dbos-counter.mjs DATABASE_URL SECONDS CLIENTS
import { DBOS } from '@dbos-inc/dbos-sdk';

const [systemDatabaseUrl, seconds, clients] = process.argv.slice(2);
DBOS.setConfig({ name: 'counter', systemDatabaseUrl, logLevel: 'error', runAdminServer: false });
const count = (value) => DBOS.runStep(async () => value + 1, { name: 'add' });
const tick = DBOS.registerWorkflow(count, { name: 'tick' });
await DBOS.launch();

const latencies = [];
const began = performance.now();
const isOver = () => performance.now() - began > Number(seconds) * 1000;
const callAgain = async () => {
  while (!isOver()) {
    const calledAt = performance.now();
    await tick(latencies.length);
    latencies.push(performance.now() - calledAt);
  }
};
await Promise.all(Array.from({ length: Number(clients) }, callAgain));
const perSecond = (latencies.length / (performance.now() - began)) * 1000;
latencies.sort((a, b) => a - b);
const quantile = (share) => latencies[Math.floor(latencies.length * share)];
process.stdout.write(
  `${JSON.stringify({ perSecond, count: latencies.length, p50Ms: quantile(0.5), p99Ms: quantile(0.99) })}\n`,
);
await DBOS.shutdown();
process.exit();
