import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { counting, makeWorld, plant } from '../../src/worlds/make-world.js';

const race = { stateChanges: { horse: 'partial' }, mutationSettings: { mode: 'direct', template: {} } };

describeWithProgram('chromium', 'the palette and the keys of the console', () => {
  let house: ConsoleHouse;
  let path: string;
  beforeAll(async () => {
    house = await startConsoleHouse();
    const api = apiClient(house.system.url, house.system.key);
    const made = (name: string, event: string) =>
      makeWorld(api, {
        name,
        schemas: [counting('horse', 'wins')],
        events: [{ name: event, firstVersion: race }],
      });
    await (await made('Harbour', 'tide')).deploy({ name: 'North sea' });
    ({ path } = await (await made('Derby', 'race_result')).deploy({ name: 'Season 1' }));
    await plant(api, path, 'horse', 'ALBATROSS');
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  const field = (page: Page) => page.getByRole('combobox', { name: /^Find worlds/ });
  const find = async (page: Page, text: string, option: RegExp) => {
    await page.keyboard.press('ControlOrMeta+k');
    await field(page).fill(text);
    await page.getByRole('option', { name: option }).first().waitFor();
  };

  it('leads to a world, an event, a deployment, an instance, an entry and a page of the docs', async () => {
    await using watched = await house.open('/');
    const { page } = watched;
    await page.getByRole('heading', { name: 'Worlds', exact: true }).waitFor();
    await find(page, 'north', /^North sea/);
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'North sea' }).waitFor();
    await find(page, 'race derby', /^race_result/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'race_result' }).waitFor();
    await page.goto(`${house.system.url}/console${path}/run`);
    await page.getByRole('button', { name: 'Execute' }).waitFor();
    await find(page, 'alba', /^horse:ALBATROSS/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/live\?instance=horse/);
    await find(page, '2', /^Entry 2/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/seq=2/);
    await find(page, 'leaderboard', /Docs$/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Escape');
    await field(page).waitFor({ state: 'detached' });
    expect(watched.faults).toEqual([]);
  });

  it('has keys that are listed, do nothing while one types, and can be turned off', async () => {
    await using watched = await house.open(`${path}/live`);
    const { page } = watched;
    await page.getByRole('heading', { name: 'Entry 2' }).waitFor();
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'Entry 1' }).waitFor();
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await list.getByRole('row', { name: /Previous entry/ }).waitFor();
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    await list.getByLabel('Shortcuts of single keys').uncheck();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await page.keyboard.press('j');
    await page.keyboard.press('?');
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    // What is below an open dialog has no role.
    expect(await page.locator('h2', { hasText: 'Entry 1' }).count()).toBe(1);
    await list.getByLabel('Shortcuts of single keys').check();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    // Two presses that a busy machine sends too far apart are no shortcut, and are made again.
    const settings = page.getByRole('heading', { name: 'Settings' });
    await vi.waitFor(async () => {
      await page.keyboard.press('g');
      await page.keyboard.press('s');
      await settings.waitFor({ timeout: 10_000 });
    });
    await page.getByLabel('Description').pressSequentially('g w ? jk');
    expect(await page.getByLabel('Description').inputValue()).toBe('g w ? jk');
    expect(watched.faults).toEqual([]);
  });

  it('shows times by the clock that is chosen, and keeps that', async () => {
    await using watched = await house.open(`${path}/settings`);
    const { page } = watched;
    const created = page.getByText('Created', { exact: true }).locator('xpath=following-sibling::dd//time');
    await created.waitFor();
    await page.getByLabel('Clock of the console').selectOption('utc');
    const at = (await created.getAttribute('datetime')) ?? '';
    expect(await created.textContent()).toBe(`${at.slice(0, 19).replace('T', ' ')}Z`);
    await page.reload();
    await created.waitFor();
    expect(await created.textContent()).toMatch(/Z$/);
    await expectSound(watched);
  });
});
