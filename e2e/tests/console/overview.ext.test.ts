import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { counting, makeWorld, plant } from '../../src/worlds/make-world.js';

const race = {
  inputSchema: { winner: 'string' },
  stateChanges: { horse: 'partial' },
  guards: { create: false },
  mutationSettings: { mode: 'direct', template: { 'horse:{{input.winner}}': { wins: { $increment: 1 } } } },
};

describeWithProgram('chromium', 'the overview of a deployment', () => {
  let house: ConsoleHouse;
  let api: ApiClient;
  beforeAll(async () => {
    house = await startConsoleHouse();
    api = apiClient(house.system.url, house.system.key);
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  async function plantDerby() {
    const world = await makeWorld(api, {
      name: 'Derby',
      schemas: [counting('horse', 'wins')],
      events: [{ name: 'race', firstVersion: race }],
    });
    const { path } = await world.deploy({ name: 'Season 1' });
    await plant(api, path, 'horse', 'A');
    return { world, path };
  }

  it('says that all is well, and what was executed', async () => {
    const { path } = await plantDerby();
    await using watched = await house.open(`${path}/overview`);
    const { page } = watched;
    await page.getByText('Nothing needs attention.').waitFor();
    await page.getByText('Nothing was executed in the last day.').waitFor();
    await expectSound(watched);
    for (const winner of ['A', 'A']) await api.post(`${path}/execute`, { event: 'race', input: { winner } });
    await page.reload();
    const events = page.getByRole('region', { name: 'Executions by event' });
    await events.getByRole('row', { name: /^race 2 0 / }).waitFor();
    await page.getByRole('img', { name: /^Executions by half an hour/ }).waitFor();
    await page.getByLabel('Of the last').selectOption('month');
    await page.getByRole('img', { name: /^Executions by day/ }).waitFor();
    await page.waitForURL(/of=month/);
    await expectSound(watched);
  });

  it('begins with what needs attention, also on the page of the world', async () => {
    const { world, path } = await plantDerby();
    await api.post(`${path}/execute`, { event: 'race', input: { winner: 'nobody' } });
    await api.post(`${path}/pause`);
    await using watched = await house.open(`${path}/overview`);
    const { page } = watched;
    await page.getByRole('link', { name: /^1 execution has failed within a day/ }).waitFor();
    await page.getByRole('link', { name: /^It is paused/ }).waitFor();
    await page
      .getByRole('region', { name: 'Failures by code' })
      .getByRole('row', { name: / 1 race$/ })
      .waitFor();
    await expectSound(watched);
    await page.goto(`${house.system.url}/console${world.path}`);
    await page.getByRole('heading', { name: 'Season 1 needs attention' }).waitFor();
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByRole('link', { name: /^1 execution has failed/ }).click();
    await page.waitForURL(/live\?entries=failed/);
    expect(watched.faults).toEqual([]);
  });
});
