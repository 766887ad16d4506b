import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type ApiClient, apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { counting, makeWorld } from '../../src/worlds/make-world.js';

/** Wins of a horse that there is; another one is a failure that the journal keeps. */
const race = {
  inputSchema: { winner: 'string' },
  stateChanges: { horse: 'partial' },
  guards: { create: false },
  mutationSettings: {
    mode: 'direct',
    template: { 'horse:{{input.winner}}': { wins: { $increment: 1 } } },
  },
};

describeWithProgram('chromium', 'an entry again, and two of them, in the console', () => {
  let house: ConsoleHouse;
  let api: ApiClient;
  beforeAll(async () => {
    house = await startConsoleHouse();
    api = apiClient(house.system.url, house.system.key);
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  /** The horses A and B are the entries 2 and 3; A wins in 4 and 5, nobody in 6, B in 7. */
  async function plant() {
    const world = await makeWorld(api, {
      name: 'Derby',
      schemas: [counting('horse', 'wins')],
      events: [{ name: 'race', firstVersion: race }],
    });
    const { path } = await world.deploy();
    for (const instanceId of ['A', 'B'])
      await api.post(`${path}/entity-instances`, { entitySchema: 'horse', instanceId });
    for (const winner of ['A', 'A', 'nobody', 'B'])
      await api.post(`${path}/execute`, { event: 'race', input: { winner } });
    return { world, path };
  }
  const entry = (page: Page, seq: number) =>
    page.getByRole('heading', { name: `Entry ${seq}`, exact: true }).waitFor();
  const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

  it('tells where its template failed', async () => {
    const template = { result: { gift: '{{ input.gift }}' } };
    const firstVersion = { mutationSettings: { mode: 'direct', template } };
    const events = [{ name: 'give', firstVersion }];
    const world = await makeWorld(api, { name: 'Fair', schemas: [counting('horse', 'wins')], events });
    const { path } = await world.deploy();
    await api.post(`${path}/execute`, { event: 'give', input: {} });
    await using watched = await house.open(`${path}/live?seq=2`);
    const { page } = watched;
    await entry(page, 2);
    await page.getByText('The input has no "…".').first().waitFor();
    await page.getByText('{{ input.gift }}', { exact: true }).waitFor();
    await page.getByText('/result/gift', { exact: true }).waitFor();
    await page.getByText('The input has no "gift".').waitFor();
    await expectSound(watched);
  });

  it('is run with its input again, by hand or by a program', async () => {
    const { path } = await plant();
    await using watched = await house.open(`${path}/live?seq=7`);
    const { page } = watched;
    await entry(page, 7);
    await page.getByText('As a command').click();
    await page.getByText(`${house.system.url}/api${path}/execute`).waitFor();
    await page.getByRole('tab', { name: 'orrery' }).click();
    await page.getByText('orrery execute').waitFor();
    await page.getByRole('tab', { name: 'SDK' }).click();
    await page.getByText("import { createOrrery } from '@orrery/sdk';").waitFor();
    expect(await page.content()).not.toContain(house.system.key);
    await expectSound(watched);
    await page.getByRole('link', { name: 'Run again' }).click();
    await page.getByRole('button', { name: 'Execute' }).waitFor();
    expect(await page.getByLabel('winner').inputValue()).toBe('B');
    await click(page, 'Execute');
    await page.getByText('Entry 8 in the live page').waitFor();
  });

  it('is run again with an input that is too long for an address', async () => {
    const { path } = await plant();
    const winner = 'x'.repeat(5000);
    await api.post(`${path}/execute`, { event: 'race', input: { winner } });
    await using watched = await house.open(`${path}/live?seq=8`);
    const { page } = watched;
    await page.getByRole('link', { name: 'Run again' }).click();
    await page.getByRole('button', { name: 'Execute' }).waitFor();
    expect(page.url().length).toBeLessThan(500);
    await page.reload();
    await vi.waitFor(async () => expect(await page.getByLabel('winner').inputValue()).toBe(winner));
    expect(watched.faults).toEqual([]);
  });

  it('is compared with another one, with the instances after both', async () => {
    const { path } = await plant();
    await using watched = await house.open(`${path}/live?seq=7`);
    const { page } = watched;
    await entry(page, 7);
    await page.getByRole('link', { name: 'Run again' }).waitFor();
    await page.getByRole('link', { name: 'Compare', exact: true }).last().click();
    await page.waitForURL(/compare\?at=7&to=6/);
    await page.getByRole('region', { name: 'Both entries' }).getByText('failed').first().waitFor();
    await page.getByText('1 of 2 differ.').waitFor();
    await page.getByRole('region', { name: 'Difference of horse:B' }).waitFor();
    await expectSound(watched);
    await page.getByLabel('The other after entry').fill('');
    await page.getByText('They are the same on both sides.').waitFor();
    await page.getByLabel('The other after entry').fill('99');
    await page.getByText('There is no entry 99.').waitFor();
  });

  it('lies in a fork that is compared with its source', async () => {
    const { world, path } = await plant();
    const source = (await api.get(path)).body.data.address;
    const made = await api.post(`${world.path}/deployments`, {
      name: 'Fork',
      bindings: [],
      sourceDeployment: source,
    });
    const fork = `${world.path}/deployments/${made.body.data.address}`;
    await api.post(`${fork}/execute`, { event: 'race', input: { winner: 'A' } });
    await using watched = await house.open(`${fork}/live`);
    const { page } = watched;
    await page.getByRole('link', { name: 'Compare with it' }).click();
    await page.getByText('1 of 2 differ.').waitFor();
    const difference = page.getByRole('region', { name: 'Difference of horse:A' });
    await difference.getByText('"wins": 3').or(difference.getByText('wins: 3')).first().waitFor();
    await expectSound(watched);
  });

  it('is reached by its failure, by its time, and by playing', async () => {
    const { path } = await plant();
    await using watched = await house.open(`${path}/live`);
    const { page } = watched;
    await entry(page, 7);
    await click(page, 'Previous failure');
    await entry(page, 6);
    expect(await page.getByRole('button', { name: 'Previous failure' }).isDisabled()).toBe(true);
    await expectSound(watched);
    await page.getByLabel('Time to go to').fill('2000-01-01T00:00:00');
    await click(page, 'Go');
    await page.getByText('The journal begins later.').waitFor();
    await page.getByLabel('Time to go to').fill('2100-01-01T00:00:00');
    await click(page, 'Go');
    await entry(page, 7);
    await page.getByRole('slider', { name: 'State after entry' }).fill('1');
    await entry(page, 1);
    await page.getByLabel('Speed of playing').selectOption('5');
    await click(page, 'Play');
    await entry(page, 7);
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    expect(watched.faults).toEqual([]);
  });
});
