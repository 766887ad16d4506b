import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type ApiClient, apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { confirmInDialog } from '../../src/console/write-editor.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { makeWorld, plant } from '../../src/worlds/make-world.js';

const horse = {
  name: 'horse',
  attributes: [
    { name: 'wins', type: 'integer', constraints: { min: 0 }, defaultValue: 0 },
    { name: 'note', type: 'string' },
  ],
};

describeWithProgram('chromium', 'the instances of a deployment as tables', () => {
  let house: ConsoleHouse;
  let api: ApiClient;
  beforeAll(async () => {
    house = await startConsoleHouse();
    api = apiClient(house.system.url, house.system.key);
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  async function plantHorses(count: number): Promise<string> {
    const event = {
      name: 'run',
      firstVersion: {
        stateChanges: { horse: 'partial' },
        mutationSettings: { mode: 'direct', template: {} },
      },
    };
    const world = await makeWorld(api, { name: 'Derby', schemas: [horse], events: [event] });
    const { path } = await world.deploy();
    for (let at = 1; at <= count; at += 1)
      await plant(api, path, 'horse', `H${at}`, { wins: at, note: `number ${at}` });
    return path;
  }
  const rows = (page: Page) => page.getByRole('region', { name: 'Instances', exact: true }).getByRole('row');
  const firstId = async (page: Page) =>
    ((await rows(page).nth(1).getByRole('rowheader').textContent()) ?? '').trim();
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const stateOf = async (path: string, id: string) =>
    (await api.get(`${path}/entity-instances/${id}?entitySchema=horse`)).body.data?.state;

  it('are found, sorted and read page by page', async () => {
    const path = await plantHorses(130);
    await using watched = await house.open(`${path}/data`);
    const { page } = watched;
    await page.getByText('130 instances').waitFor();
    expect(await rows(page).count()).toBeLessThan(60);
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    await button(page, 'wins').click();
    await page.waitForURL(/order=wins/);
    await button(page, 'wins').click();
    await vi.waitFor(async () => expect(await firstId(page)).toBe('H130'));
    // To the end: further pages are read.
    await vi.waitFor(async () => {
      await page.evaluate("document.querySelector('section[aria-label=Instances]').scrollTo(0, 1e6)");
      expect(await page.getByRole('rowheader', { name: 'H1', exact: true }).count()).toBe(1);
    });
    await page.getByLabel('Condition').fill('instance.wins >');
    await page.getByLabel('Condition').press('Enter');
    await page.getByText('They could not be read').waitFor();
    await expectSound(watched);
    await page.getByLabel('Condition').fill('instance.wins > 128');
    await page.getByLabel('Condition').press('Enter');
    await page.getByText('2 instances').waitFor();
    await page.getByLabel('Find by instance id').fill('129');
    await page.getByText('1 instance', { exact: true }).waitFor();
    await page.waitForURL(/find=.*129/);
    await page.getByLabel('Find by instance id').fill('nobody');
    await page.getByText('None fits.').waitFor();
    expect(watched.faults).toEqual([]);
  });

  it('are changed, also where somebody else has changed one meanwhile, added and deleted', async () => {
    const path = await plantHorses(3);
    await using watched = await house.open(`${path}/data`);
    const { page } = watched;
    await button(page, 'Edit H2').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('wins').fill('-1');
    await button(page, 'Save').click();
    await dialog.locator('[aria-invalid=true]').waitFor();
    await dialog.getByLabel('wins').fill('7');
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    const one = `${path}/entity-instances/H2?entitySchema=horse`;
    expect((await api.put(one, { state: { wins: 5, note: 'theirs' } })).status).toBe(200);
    await button(page, 'Save').click();
    await page.getByText('Somebody else has changed it since you opened it').waitFor();
    await page.getByRole('region', { name: 'What is there now, and yours' }).getByText('theirs').waitFor();
    await button(page, 'Save mine over it').click();
    await dialog.waitFor({ state: 'detached' });
    expect(await stateOf(path, 'H2')).toEqual({ wins: 7, note: 'number 2' });
    await page.getByLabel('Choose H1').check();
    await page.getByLabel('Choose H3').check();
    await button(page, 'Delete 2 instances').click();
    await confirmInDialog(page, 'Delete 2 instances');
    await page.getByText('1 instance', { exact: true }).waitFor();
    expect(watched.faults).toEqual([]);
  });

  it('are exported, and imported as they were', async () => {
    const path = await plantHorses(3);
    await using watched = await house.open(`${path}/data`);
    const { page } = watched;
    const fileOf = async (name: string): Promise<string> => {
      const coming = page.waitForEvent('download');
      await button(page, name).click();
      return readFile(await (await coming).path(), 'utf8');
    };
    expect(JSON.parse(await fileOf('Export JSON'))[0]).toEqual({
      instanceId: 'H1',
      state: { wins: 1, note: 'number 1' },
    });
    const csv = await fileOf('Export CSV');
    expect(csv).toBe('instanceId,wins,note\r\nH1,1,number 1\r\nH2,2,number 2\r\nH3,3,number 3\r\n');
    await button(page, 'Import').click();
    const given = page.getByLabel('Or paste it');
    await given.fill('instanceId,wins\nH9,many');
    await page.getByText('Row 1: wins is no integer: many').waitFor();
    expect(await button(page, 'Import 1').isDisabled()).toBe(true);
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByLabel('File').setInputFiles({
      name: 'horses.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(csv.replace('H1,1', 'H1,100').replace('H3', 'H4')),
    });
    await button(page, 'Import 3').click();
    await page.getByText('1 created, 0 replaced, 2 left as they were.').waitFor();
    expect(await stateOf(path, 'H1')).toMatchObject({ wins: 1 });
    await page.getByLabel('An instance that is there already').selectOption('replace');
    await button(page, 'Import 3').click();
    await page.getByText('0 created, 3 replaced, 0 left as they were.').waitFor();
    expect(await stateOf(path, 'H1')).toEqual({ wins: 100, note: 'number 1' });
    expect(await stateOf(path, 'H4')).toEqual({ wins: 3, note: 'number 3' });
    expect(watched.faults).toEqual([]);
  });
});
