import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse, type WatchedPage } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { counting, makeWorld } from '../../src/worlds/make-world.js';

const race = (wins: number) => ({
  inputSchema: { winner: 'string' },
  stateChanges: { horse: 'partial' },
  mutationSettings: {
    mode: 'direct',
    template: { 'horse:{{input.winner}}': { wins: { $increment: wins } } },
  },
});
const report = {
  outputSchema: { headline: 'string' },
  stateChanges: {},
  behaviorPrompt: 'Write a headline.',
  mutationSettings: { mode: 'ai' },
};

describeWithProgram('chromium', 'what if, in the console', () => {
  let house: ConsoleHouse;
  beforeAll(async () => {
    house = await startConsoleHouse();
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  /** Two races of A, one of B, and a report: entries 2 to 5. */
  async function plantSeason(): Promise<string> {
    const api = apiClient(house.system.url, house.system.key);
    const world = await makeWorld(api, {
      name: 'Derby',
      schemas: [counting('horse', 'wins')],
      events: [
        { name: 'race', firstVersion: race(1) },
        { name: 'report', firstVersion: report },
      ],
    });
    await api.post(`${world.path}/events/race/event-versions`, race(3));
    const { path } = await world.deploy();
    for (const winner of ['A', 'A', 'B'])
      await api.post(`${path}/execute`, { event: 'race', input: { winner } });
    await api.post(`${path}/execute`, { event: 'report', input: {} });
    return path;
  }
  const cellsOf = async ({ page }: WatchedPage, table: string, row: RegExp) =>
    page
      .getByRole('region', { name: table, exact: true })
      .getByRole('row', { name: row })
      .locator('th, td')
      .allTextContents();

  it('replays with another version, shows where the histories part and what differs in the end, and keeps nothing', async () => {
    const path = await plantSeason();
    await using watched = await house.open(`${path}/what-if`);
    const { page } = watched;
    await page.getByLabel('To entry').fill('4');
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('All 3 entries end as recorded.').waitFor();
    await page.getByLabel('Another version of').selectOption('race');
    await page.getByLabel('Version', { exact: true }).selectOption('2');
    await page.waitForURL(/event=race&version=2/);
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('The histories part at entry 2: 3 of 3 entries end otherwise.').waitFor();
    expect(await cellsOf(watched, 'Outcomes by event', /^race/)).toEqual([
      'race',
      '3 succeeded',
      '3 succeeded',
    ]);
    const [entry, what, differs, recorded, replayed] = await cellsOf(
      watched,
      'Entries that end otherwise',
      /^3/,
    );
    expect([entry, what, differs]).toEqual(['3', 'race v1', 'version, changes']);
    expect([recorded, replayed]).toEqual(['{"horse:A":{"wins":2}}', '{"horse:A":{"wins":6}}']);
    await page.getByRole('region', { name: 'Difference of horse:A' }).waitFor();
    await expectSound(watched);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectSound(watched);
    const { worldAddress } = { worldAddress: path.split('/')[2] ?? '' };
    const deployments = [];
    for await (const one of house.orrery.list('/api/worlds/{worldAddress}/deployments', {
      path: { worldAddress },
    }))
      deployments.push(one.name);
    expect(deployments).toEqual(['One']);
    await page.getByRole('link', { name: '3', exact: true }).click();
    await page.waitForURL(/\/live\?seq=3/);
  });

  it('asks before models are asked, shows how their outcomes spread, and keeps a fork where that is wanted', async () => {
    const path = await plantSeason();
    await using watched = await house.open(`${path}/what-if?from=5`);
    const { page } = watched;
    await page.getByLabel('Times').fill('2');
    await page.getByLabel('Keep the fork').check();
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText(/^Models decide 2 executions: .* tokens/).waitFor();
    await expectSound(watched);
    await page.getByRole('button', { name: 'Ask the models' }).click();
    await page.getByText(/^Run 2: /).waitFor();
    await page.getByRole('region', { name: 'Outcomes of models' }).waitFor();
    await expectSound(watched);
    await page.getByRole('link', { name: 'The fork, which is kept' }).first().click();
    await page.getByText('what-if fork').waitFor();
  });

  it('begins with the entry from which one comes', async () => {
    const path = await plantSeason();
    await using watched = await house.open(`${path}/live?seq=3`);
    const { page } = watched;
    const position = page.getByRole('region', { name: 'Position in the journal' });
    await position.getByRole('link', { name: 'What if' }).click();
    await page.waitForURL(/what-if\?from=3/);
    expect(await page.getByLabel('From entry').inputValue()).toBe('3');
    await page.getByLabel('To entry').fill('99');
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('The journal ends at entry 5.').waitFor();
    await expectSound(watched);
  });
});
