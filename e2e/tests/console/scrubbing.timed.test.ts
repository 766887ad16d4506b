import { startPace } from '@orrery/contracts/test-support';
import { createTestDatabase } from '@orrery/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { plantLongJournal } from '../../src/load/plant-long-journal.js';
import { horseSchema } from '../../src/worlds/racing-world.js';

const ENTRIES = 100_000;
const INSTANCES = 10_000;
/** What a step may take, in milliseconds. */
const STEP_MS = 100;

/** Moves the slider to each place; answers the milliseconds until the table shows the state of then. */
const SCRUB = `async (places) => {
  const slider = document.querySelector('input[type=range]');
  const region = document.querySelector('section[aria-label="Instances"]');
  const move = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
  const times = [];
  for (const place of places) {
    const from = performance.now();
    move.call(slider, place);
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((resolve) => {
      const look = () => (region.getAttribute('aria-busy') === 'false' ? resolve() : requestAnimationFrame(look));
      requestAnimationFrame(look);
    });
    times.push(performance.now() - from);
  }
  return times;
}`;

/** What a quarter of the steps stays below: what else the machine does makes the others slower, never these quicker. */
const quartileOf = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 4)] ?? Number.NaN;

describeWithProgram('chromium', 'a history of 100,000 entries and 10,000 instances', () => {
  let house: ConsoleHouse;
  let path: { worldAddress: string; address: string };
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  beforeAll(async () => {
    database = await createTestDatabase();
    house = await startConsoleHouse({ DATABASE_URL: database.url, RATE_LIMITS: 'false' });
    const { orrery } = house;
    const { address: worldAddress } = await orrery.post('/api/worlds', { body: { name: 'Derby' } });
    const world = { worldAddress };
    await orrery.post('/api/worlds/{worldAddress}/entity-schemas', {
      path: world,
      body: horseSchema as never,
    });
    const body = { name: 'Season 1', bindings: [] };
    const { address } = await orrery.post('/api/worlds/{worldAddress}/deployments', { path: world, body });
    path = { worldAddress, address };
    await plantLongJournal({
      databaseUrl: database.url,
      deployment: address,
      entries: ENTRIES,
      instances: INSTANCES,
    });
  });
  afterAll(async () => {
    await house?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  it('answers a page of any entry within 100 ms', async ({ annotate }) => {
    using pace = startPace();
    const read = async (atSeq: number, page: number) => {
      const from = performance.now();
      const list = '/api/worlds/{worldAddress}/deployments/{address}/entity-instances';
      const rows = await house.orrery.get(list, { path, query: { atSeq, page, limit: 100 } });
      expect(rows).toHaveLength(100);
      return performance.now() - from;
    };
    const first = await read(ENTRIES, 1);
    const anywhere: number[] = [];
    const busy: number[] = [];
    for (let n = 0; n < 40; n++)
      anywhere.push(await read(INSTANCES + 1 + ((n * 7919) % (ENTRIES - INSTANCES)), 1 + ((n * 37) % 99)));
    for (let n = 0; n < 20; n++) busy.push(await read(ENTRIES - n * 977, 100));
    const [usual, slow] = [quartileOf(anywhere), quartileOf(busy)];
    await annotate(`the first ${first} ms, then ${usual} ms, of busy instances ${slow} ms`);
    expect(usual).toBeLessThan(STEP_MS * pace.slowness());
  });

  it('scrubs in the console at 100 ms a step', async ({ annotate }) => {
    using pace = startPace();
    const search = '?schema=horse&seq=50000';
    await using watched = await house.open(
      `/worlds/${path.worldAddress}/deployments/${path.address}/live${search}`,
    );
    const { page } = watched;
    await page.getByText('10,000 after entry 50000').waitFor();
    await page.getByRole('row').filter({ hasText: 'H12' }).waitFor();
    const steps = Array.from({ length: 40 }, (_, n) => 50_001 + n * 977);
    const times = (await page.evaluate(`(${SCRUB})(${JSON.stringify(steps)})`)) as number[];
    const usual = quartileOf(times);
    await annotate(`${usual} ms a step, ${Math.min(...times)} to ${Math.max(...times)} ms`);
    expect(usual).toBeLessThan(STEP_MS * pace.slowness());
    expect(watched.faults).toEqual([]);
  });
});
