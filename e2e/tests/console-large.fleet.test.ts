import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrrery, type Deployment } from '@orrery/sdk';
import { freePort } from '@orrery/testing/servers';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { signInOnce, type WatchedPage, watchPage } from '../src/console/console-house.js';
import { expectSound } from '../src/console/expect-sound.js';
import { growthOf, type PageMemory, pageMemory } from '../src/console/page-memory.js';
import { type SteadyStream, startSteadyStream } from '../src/console/steady-stream.js';
import { openContext, startBrowser } from '../src/external/browse.js';
import { describeWithProgram } from '../src/external/describe-with-program.js';
import { runClients } from '../src/load/run-clients.js';
import { type Started, startHere } from '../src/starting/start-here.js';
import { makeWorld } from '../src/worlds/make-world.js';

const MINUTES = Number(process.env['CONSOLE_MINUTES'] ?? 30);
const INSTANCES = 5000;
const ENTRIES = 60_000;
const ATTRIBUTES = 200;
const PER_SECOND = 200;
const CLIENTS = 32;
const PATIENCE_MS = 180_000;
/** The console may be this far behind the journal, in seconds of the stream, on a machine that does other work, too. */
const BEHIND_SECONDS = 5;
const WITHIN = MINUTES * 60_000 + 1_200_000;

const write = (line: string) => void process.stdout.write(`${line}\n`);
const horse = {
  name: 'horse',
  attributes: Array.from({ length: ATTRIBUTES }, (_, at) => ({
    name: `a${at}`,
    type: 'integer',
    defaultValue: at,
  })),
};
const run = {
  inputSchema: { horse: 'string' },
  readEntities: [{ schema: 'horse', filter: ['horse'] }],
  stateChanges: { horse: 'partial' },
  mutationSettings: { mode: 'direct', template: { 'horse:{{input.horse}}': { a0: { $increment: 1 } } } },
  executionSettings: { visibility: 'public' },
};

describeWithProgram('chromium', 'the console on a large deployment for a long time', () => {
  let folder: string;
  let port: string;
  let server: Started;
  let browser: Browser;
  let path: string;
  let deployment: Deployment;
  let stream: SteadyStream | undefined;

  const start = () => startHere(join(folder, 'data'), { PORT: port, RATE_LIMITS: 'false' });
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orrery-large-'));
    port = String(await freePort());
    [server, browser] = await Promise.all([start(), startBrowser()]);
    const api = apiClient(server.url, server.key);
    const world = await makeWorld(api, {
      name: 'Large',
      schemas: [horse],
      events: [{ name: 'run', firstVersion: run }],
    });
    const { path: made, address } = await world.deploy({ name: 'Season 1' });
    path = made;
    await api.post(`${path}/publish`);
    const orrery = createOrrery({ url: server.url, token: server.key, retryForMs: PATIENCE_MS });
    deployment = orrery.deployment(world.address, address);
    const begun = performance.now();
    await runClients(CLIENTS, INSTANCES, async (at) => {
      await api.post(`${path}/entity-instances`, { entitySchema: 'horse', instanceId: `H${at}` });
    });
    await runClients(CLIENTS, ENTRIES - INSTANCES, async (at) => {
      await deployment.execute({ event: 'run', input: { horse: `H${at % INSTANCES}` } });
    });
    write(`planted ${INSTANCES} instances and ${ENTRIES} entries in ${since(begun)}`);
  }, WITHIN);
  afterAll(async () => {
    await stream?.end().catch(() => undefined);
    await browser?.close();
    await server?.process[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }, 120_000);

  const open = async (place: string): Promise<WatchedPage> => {
    const context = await openContext(browser, { viewport: { width: 1280, height: 860 } });
    await context.addInitScript(signInOnce(server.key));
    const watched = await watchPage(context, server.url);
    await watched.page.goto(`${server.url}${place}`);
    return watched;
  };

  it(
    `follows ${PER_SECOND} a second for ${MINUTES} minutes over a killed server, and holds no more in the end`,
    async () => {
      await using live = await open(`/console${path}/live?schema=horse`);
      await live.page.getByText('live', { exact: true }).waitFor();
      stream = startSteadyStream(deployment, 'run', {
        perSecond: PER_SECOND,
        inputOf: (number) => ({ horse: `H${number % 50}` }),
      });
      const begun = performance.now();
      const isOver = () => performance.now() - begun >= MINUTES * 60_000;
      const samples: PageMemory[] = [];
      const behind: number[] = [];
      const tours: string[] = [];
      let isKilled = false;
      for (let round = 0; !isOver(); round += 1) {
        tours.push(await tour(round === 0));
        behind.push(await secondsBehind(live));
        samples.push(await pageMemory(live.page));
        write(lineOf(samples.at(-1), behind.at(-1), await serverMemory(server), stream.count(), begun));
        if (!isKilled && performance.now() - begun > MINUTES * 30_000) {
          isKilled = true;
          await killAndRestart(live);
        }
      }
      await stream.end();
      const executed = stream.count();
      stream = undefined;
      const growth = growthOf(samples);
      write(`tours: first ${tours[0]}; last ${tours.at(-1)}`);
      write(
        `executed ${executed}; growth ${mebibytes(growth.bytes)} over ${samples.length} samples; behind at most ${Math.max(...behind).toFixed(1)} s`,
      );
      expect(isKilled).toBe(true);
      expect(live.faults).toEqual([]);
      expect(Math.max(...behind)).toBeLessThan(BEHIND_SECONDS);
      expect(growth.isFlat).toBe(true);
      await expectAllCounted(executed);
      await verified();
    },
    WITHIN,
  );

  /** A round through the pages; the milliseconds that each took to show what it is for. */
  async function tour(isFirst: boolean): Promise<string> {
    await using watched = await open(`/console${path}/overview`);
    const { page } = watched;
    const took: string[] = [];
    const step = async (name: string, place: string | undefined, shown: () => Promise<unknown>) => {
      const from = performance.now();
      if (place !== undefined) await page.goto(`${server.url}${place}`);
      await shown();
      took.push(`${name} ${Math.round(performance.now() - from)} ms`);
      if (isFirst) await expectSound(watched);
      await page.setViewportSize({ width: 1280, height: 860 });
    };
    const world = `/console${path.split('/deployments')[0]}`;
    const row = (name: RegExp | string) => page.getByRole('row', { name }).first().waitFor();
    await step('overview', undefined, () => row(/^run /));
    await step('world', world, () => page.getByRole('heading', { name: 'Large' }).waitFor());
    await step('map', `${world}/map`, () => page.getByRole('heading', { name: /^Map of/ }).waitFor());
    await step('past', `/console${path}/live?schema=horse&seq=30000`, () =>
      page.getByText('5,000 after entry 30000').waitFor(),
    );
    await step(
      'data',
      `/console${path}/data?where=${encodeURIComponent('instance.a0 > 20 && id != "H1"')}`,
      () =>
        page
          .getByText(/^[\d,]+ instances?$/)
          .first()
          .waitFor(),
    );
    await step('edit', undefined, async () => {
      await page.getByLabel('Find by instance id').fill('H4999');
      await page.getByLabel('Condition').fill('');
      await page.getByLabel('Condition').press('Enter');
      await page.getByRole('button', { name: 'Edit H4999' }).click();
      await page.getByRole('dialog').getByLabel('a199', { exact: true }).waitFor();
    });
    await step(
      'run',
      `/console${path}/run?event=run&input=${encodeURIComponent('{"horse":"H7"}')}`,
      async () => {
        await page.getByRole('button', { name: 'Dry run' }).click();
        await page.getByRole('heading', { name: 'What would change' }).waitFor();
      },
    );
    await step('compare', `/console${path}/compare?at=20000&to=20050`, () =>
      page.getByText(/of 5,000 differ\./).waitFor(),
    );
    await step('palette', undefined, async () => {
      await page.keyboard.press('ControlOrMeta+k');
      await page.getByRole('combobox', { name: /^Find worlds/ }).fill('H4321');
      await page.getByRole('option', { name: /horse:H4321/ }).waitFor();
      await page.keyboard.press('Escape');
    });
    await step('schema', `${world}/schemas/horse`, () => row(/^a0 /));
    await step('editor', `${world}/events/run/edit?version=1`, async () => {
      await page.getByLabel('With the state of').waitFor();
      await page.getByLabel('horse', { exact: true }).last().fill('H7');
      await page.getByRole('button', { name: 'Try it' }).click();
      await page.getByText('The version as it is typed would do this.').waitFor();
    });
    await step('player', `/play/${path.split('/').at(-1)}`, () =>
      page.getByRole('heading', { name: 'Season 1' }).waitFor(),
    );
    expect(watched.faults).toEqual([]);
    return took.join(', ');
  }

  /** How far the table of the live page is behind the journal. */
  async function secondsBehind({ page }: WatchedPage): Promise<number> {
    const { body } = await apiClient(server.url, server.key).get(`${path}/history?include=all&limit=1`);
    const { seq } = body.data[0];
    const from = performance.now();
    await expect
      .poll(
        async () =>
          shownSeq(
            await page
              .getByText(/after entry \d+/)
              .first()
              .textContent(),
          ),
        { timeout: 60_000 },
      )
      .toBeGreaterThanOrEqual(seq);
    return (performance.now() - from) / 1000;
  }

  async function killAndRestart({ page }: WatchedPage): Promise<void> {
    const from = performance.now();
    await server.process.end('SIGKILL');
    await page.getByText(/^reconnecting since/).waitFor();
    const said = since(from);
    server = await start();
    await page.getByText('live', { exact: true }).waitFor();
    write(`killed the server: the page said so after ${said}, was live again after ${since(from)}`);
  }

  /** Every execution that was answered is in the journal once: the sum of what they count says so. */
  async function expectAllCounted(streamed: number): Promise<void> {
    const api = apiClient(server.url, server.key);
    // A query has two seconds, which a busy machine may not give it.
    const sum = async () => {
      const { body } = await api.get(`${path}/entity-aggregates?entitySchema=horse&sum=a0`);
      return body.data?.[0]?.sum.a0;
    };
    await expect.poll(sum, { timeout: PATIENCE_MS, interval: 2000 }).toBe(ENTRIES - INSTANCES + streamed);
  }

  async function verified(): Promise<void> {
    await using watched = await open(`/console${path}/verify`);
    const from = performance.now();
    await watched.page.getByRole('button', { name: 'Verify' }).click();
    await watched.page.getByText(/^All [\d,]+ entries hold\.$/).waitFor({ timeout: 600_000 });
    write(`verified in the browser in ${since(from)}`);
    await expectSound(watched);
  }
});

const shownSeq = (text: string | null): number => Number(/after entry (\d+)/.exec(text ?? '')?.[1] ?? 0);
const since = (from: number): string => `${((performance.now() - from) / 1000).toFixed(1)} s`;
const mebibytes = (bytes = 0): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** Resident, of the server's process. Linux only. */
async function serverMemory({ process: { pid } }: Started): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

const lineOf = (
  page: PageMemory | undefined,
  behind = 0,
  resident: number,
  executed: number,
  begun: number,
): string =>
  `${since(begun)}: page ${mebibytes(page?.bytes)} and ${page?.nodes} nodes, ${behind.toFixed(1)} s behind; server ${mebibytes(resident)}; ${executed} executed`;
