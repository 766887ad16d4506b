import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@orrery/embedded-postgres';
import { createLogger, systemClock } from '@orrery/service-kit';
import { describeWithNats } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { startFiveProcesses } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ApiClient, apiClient } from '../src/api/api-client.js';
import { type CountingLoad, startCounting } from '../src/load/start-counting.js';
import { startHere } from '../src/starting/start-here.js';
import { counterWorld } from '../src/worlds/counter-world.js';

const DEPLOYMENTS = 8;
const WRITERS = 64;
const READERS = 128;
const unlimited = { RATE_LIMITS: 'false' };

type CleanUp = (() => Promise<unknown>)[];

interface Outage {
  readonly url: string;
  readonly key: string;
  /** Of a PostgreSQL that is started again whenever it ends. */
  readonly dataDirectory: string;
}

/** Requests in flight when PostgreSQL ends are answered honestly: nobody made a mistake, so nothing is `internal`. */
function describeOutages(start: (folder: string, cleanUp: CleanUp) => Promise<Outage>): void {
  const cleanUp: CleanUp = [];
  let outage: Outage;
  let api: ApiClient;
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'orrery-outage-'));
    cleanUp.push(() => rm(folder, { recursive: true, force: true }));
    // Started by root, the server runs as another user.
    await chmod(folder, 0o711);
    outage = await start(folder, cleanUp);
    api = apiClient(outage.url, outage.key);
  });
  afterAll(async () => {
    for (const release of cleanUp.reverse()) await release();
  });

  // SIGINT is PostgreSQL's fast shutdown.
  it.each(['SIGINT', 'SIGKILL'] as const)('%s of PostgreSQL', async (signal) => {
    const { deploy } = await counterWorld(api);
    const deployments = await Promise.all(Array.from({ length: DEPLOYMENTS }, deploy));
    const counting = startCounting({ api, deployments, clients: WRITERS });
    await counting.acknowledged(200);
    const reading = startReading(api, deployments);
    await expect.poll(() => reading.answers.get('200') ?? 0).toBeGreaterThan(READERS);
    const file = join(outage.dataDirectory, 'postmaster.pid');
    process.kill(Number.parseInt(await readFile(file, 'utf8'), 10), signal);
    const [endedAt, before] = [performance.now(), counting.count()];
    // One more than were under way: it was begun after the end. Whether any is refused meanwhile is luck.
    await counting.acknowledged(before + WRITERS + 1);
    const servedAgainMs = performance.now() - endedAt;
    await nextAnswers(counting, 200);
    await reading.finish();
    await counting.finish();
    const answers = Object.fromEntries([
      ...reading.answers,
      ...countsOf(counting.interruptions().map(({ code }) => code)),
    ]);
    process.stdout.write(
      `${signal} ${JSON.stringify(answers)}, served again after ${Math.round(servedAgainMs)} ms\n`,
    );
    const honest = /^(200|(503 )?(unavailable|overloaded)|(504 )?deadline_exceeded|request_in_flight)$/;
    expect(Object.keys(answers).filter((answer) => !honest.test(answer))).toEqual([]);
    await vi.waitFor(async () => expect((await fetch(`${outage.url}/readyz`)).status).toBe(200));
    expect(await counting.problems()).toEqual([]);
  });
}

const nextAnswers = (counting: CountingLoad, count: number) =>
  counting.acknowledged(counting.count() + count);

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Clients that read in every way, without pause, and count the answers by status and code. */
function startReading(api: ApiClient, deployments: readonly string[]) {
  const paths = deployments.flatMap((path) => [
    path,
    `${path}/entity-instances/C`,
    `${path}/entity-instances`,
    `${path}/history?limit=5`,
    `${path}/event-bindings`,
    path.replace(/\/deployments.*/, '/events'),
    '/worlds',
    '/me',
  ]);
  const answers = new Map<string, number>();
  let isOver = false;
  const client = async (index: number): Promise<void> => {
    for (let turn = index; !isOver; turn += 1) {
      const { status, body } = await api.get(paths[turn % paths.length] ?? '');
      const answer = status === 200 ? '200' : `${status} ${body.code}`;
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      if (status !== 200) await systemClock.sleep(10);
    }
  };
  const running = Promise.all(Array.from({ length: READERS }, (_, index) => client(index)));
  const finish = async () => {
    isOver = true;
    await running;
  };
  return { answers, finish };
}

describe('the all-in-one while its PostgreSQL ends', () => {
  describeOutages(async (folder, cleanUp) => {
    const dataDirectory = join(folder, 'data');
    const { process, url, key } = await startHere(dataDirectory, unlimited);
    cleanUp.push(() => process.end());
    return { url, key, dataDirectory: join(dataDirectory, 'postgres') };
  });
});

describeWithNats(
  'five processes while their PostgreSQL ends',
  () => {
    describeOutages(async (folder, cleanUp) => {
      const nats = await startNatsServer();
      cleanUp.push(nats.stop);
      const dataDirectory = join(folder, 'postgres');
      const logger = createLogger({ service: 'test', level: 'silent' });
      const supervision = { logger, onLost: () => undefined, pausesMs: [500, 500, 500] };
      const postgres = await startEmbeddedPostgres({ dataDirectory, supervision });
      cleanUp.push(postgres.stop);
      const system = await startFiveProcesses({ databaseUrl: postgres.url, natsUrl: nats.url }, unlimited);
      cleanUp.push(async () => system[Symbol.asyncDispose]());
      return { url: system.url, key: system.key, dataDirectory };
    });
  },
  { own: true },
);
