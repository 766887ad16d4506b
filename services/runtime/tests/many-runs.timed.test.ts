import { startPace } from '@orrery/contracts/test-support';
import { expect, it } from 'vitest';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const DEPLOYMENTS = 20;
const RUNS_EACH = 150;

const house = await prepareHouse();
/** Of each commit: the rows that it writes, how many of them are runs, and the milliseconds that it takes. */
const commits: { rows: number; runs: number; ms: number }[] = [];
await house.boot({
  aroundCommit: (commit) => async (batch) => {
    const { rows, runs } = batch;
    const before = performance.now();
    const outcome = await commit(batch);
    commits.push({ rows, runs: runs.size, ms: performance.now() - before });
    return outcome;
  },
});

const most = (figures: readonly number[]) => figures.reduce((a, b) => Math.max(a, b), 0);
const median = (figures: readonly number[]) => figures.toSorted((a, b) => a - b)[figures.length >> 1] ?? 0;

/** What a plain execution waits while `work` goes on, and how long that takes, in milliseconds. */
async function beside(work: Promise<unknown>, plain: () => Promise<unknown>) {
  let isDone = false;
  const begun = performance.now();
  const all = work.finally(() => {
    isDone = true;
  });
  const waits: number[] = [];
  while (!isDone) {
    const before = performance.now();
    await plain();
    waits.push(performance.now() - before);
  }
  await all;
  return { ms: performance.now() - begun, count: waits.length, p50: median(waits), max: most(waits) };
}

const async = { headers: { prefer: 'respond-async' } };

it('3,000 asynchronous executions are accepted in bounded commits, and a plain one beside them hardly waits', async () => {
  const { execute } = await plantDeployment(house);
  const plain = () => execute({ id: 'plain' });
  const planted = await Promise.all(Array.from({ length: DEPLOYMENTS }, () => plantDeployment(house)));
  const accept = (index: number) => planted[index % DEPLOYMENTS]?.execute({ id: `r${index}` }, async);
  const each = Array.from({ length: DEPLOYMENTS * RUNS_EACH }, (_, index) => index);
  for (let count = 0; count < 200; count += 1) await plain();

  commits.length = 0;
  using pace = startPace();
  const crowd = each.values();
  const client = async () => {
    for (const index of crowd) await accept(index);
  };
  const byClients = await beside(Promise.all(Array.from({ length: 64 }, client)), plain);
  const atOnce = await beside(Promise.all(each.map(accept)), plain);
  const mostRows = most(commits.map(({ rows }) => rows));
  const mostRuns = most(commits.map(({ runs }) => runs));
  const slowestMs = most(commits.map(({ ms }) => ms));
  process.stdout.write(`${JSON.stringify({ byClients, atOnce, mostRows, mostRuns, slowestMs })}\n`);
  expect(mostRows).toBeLessThanOrEqual(1010);
  // A quiet machine takes 70 ms and 8 ms.
  expect(slowestMs).toBeLessThan(2000 * pace.slowness());
  expect(byClients.p50).toBeLessThan(150 * pace.slowness());
});
