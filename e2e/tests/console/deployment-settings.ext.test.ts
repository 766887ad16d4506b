import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { confirmInDialog } from '../../src/console/write-editor.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { racingWorld } from '../../src/worlds/racing-world.js';

describeWithProgram('chromium', "a deployment's settings in the console", () => {
  let house: ConsoleHouse;
  let path: string;
  let stored: () => Promise<Record<string, unknown>>;
  beforeAll(async () => {
    house = await startConsoleHouse();
    const api = apiClient(house.system.url, house.system.key);
    const made = await racingWorld(api);
    path = made.deployment;
    stored = async () => (await api.get(path)).body.data;
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  /** `name`: what is typed before it can be done. */
  const confirm = async (page: Page, verb: string, name?: string) => {
    await page.getByRole('button', { name: verb, exact: true }).click();
    if (name !== undefined) await page.getByLabel(`Type ${name} to confirm`).fill(name);
    await confirmInDialog(page, verb);
  };

  const leaving = (page: Page) => page.getByRole('dialog', { name: 'Leave without saving?' });

  it('are changed by a form, with the words of the API at the field that it refuses', async () => {
    await using watched = await house.open(`${path}/settings`);
    const { page } = watched;
    await page.getByRole('row', { name: /^training/ }).waitFor();
    await expectSound(watched);
    await page.getByLabel('Address that payments go to').fill('0x123');
    await page.getByLabel('Daily budget').fill('2.5');
    await page.getByRole('link', { name: 'Verify' }).click();
    await leaving(page).waitFor();
    await confirmInDialog(page, 'Stay');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The settings were not saved').waitFor();
    expect(await page.getByLabel('Address that payments go to').getAttribute('aria-invalid')).toBe('true');
    // By its label; the pointer is a detail.
    await page.getByRole('alert').getByText('Address that payments go to:').waitFor();
    await page.getByRole('alert').getByText('/payToAddress', { exact: false }).waitFor();
    await expectSound(watched);
    await page.getByLabel('Address that payments go to').fill('0x2222222222222222222222222222222222222222');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
    expect(await stored()).toMatchObject({
      name: 'Season 1',
      aiDailyBudgetUsd: 2.5,
      payToAddress: '0x2222222222222222222222222222222222222222',
    });
  });

  it('have their tab in view on a narrow page, and links that a finger meets', async () => {
    await using watched = await house.open(`${path}/settings`, { viewport: { width: 390, height: 860 } });
    const { page } = watched;
    const tab = page.getByRole('link', { name: 'Settings' });
    const place = async () => (await tab.boundingBox()) ?? { x: 0, width: 0 };
    await vi.waitFor(async () => {
      const { x, width } = await place();
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(390);
    });
    const where = page.getByRole('navigation', { name: 'Where you are' });
    for (const link of [page.getByRole('row').getByRole('link').first(), where.getByRole('link').first()])
      expect((await link.boundingBox())?.height).toBeGreaterThanOrEqual(24);
    expect(watched.faults).toEqual([]);
  });

  it('bind events to versions, change that, and take it back', async () => {
    await using watched = await house.open(`${path}/settings`);
    const { page } = watched;
    const unbind = page.getByRole('row', { name: /^training/ }).getByRole('button', { name: 'Unbind' });
    await unbind.click();
    await confirmInDialog(page, 'Unbind');
    await page.getByRole('row', { name: /^training/ }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Bind an event' }).click();
    await page.getByRole('dialog', { name: 'Bind an event' }).waitFor();
    await page.getByText('This server has no chain to push to.').waitFor();
    await expectSound(watched);
    await page.getByRole('button', { name: 'Bind', exact: true }).click();
    await page.getByRole('row', { name: /^training 1/ }).waitFor();
    await page.getByRole('button', { name: 'Change the binding of training' }).click();
    await page.getByRole('dialog', { name: 'Binding of training' }).waitFor();
    await confirmInDialog(page, 'Save');
    expect(watched.faults).toEqual([]);
  });

  it('pause, publish, clone as it was, and lock', async () => {
    await using watched = await house.open(`${path}/settings`);
    const { page } = watched;
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await confirm(page, 'Publish');
    await page.getByRole('button', { name: 'Unpublish' }).waitFor();
    expect(await stored()).toMatchObject({ isPublic: true, isPaused: false });

    await page.getByRole('link', { name: 'Clone' }).click();
    await page.getByLabel('Fork Season 1 after entry').fill('1');
    await expectSound(watched);
    await page.getByLabel('Name').fill('Season 1b');
    await page.getByRole('button', { name: 'Clone' }).click();
    await page.waitForURL((url) => url.pathname.endsWith('/live') && !url.pathname.includes(path));
    await page.goto(page.url().replace(/\/live.*/, '/settings'));
    await page.getByRole('heading', { name: 'Season 1b' }).waitFor();
    await page.getByText('After its entry').waitFor();
    await confirm(page, 'Lock', 'Season 1b');
    await page.getByText('What it runs is fixed for ever').waitFor();
    expect(await page.getByRole('button', { name: 'Unbind' }).count()).toBe(0);
    await expectSound(watched);
    await page.getByText('it cannot be deleted').waitFor();
  });

  it('make a new deployment of the events that are chosen, and delete it', async () => {
    await using watched = await house.open(`${path.split('/deployments')[0]}/deploy`);
    const { page } = watched;
    await page.getByRole('navigation', { name: 'Where you are' }).getByText('New deployment').waitFor();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Derby', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'New deployment' }).click();
    await page.getByLabel('training, version 1').uncheck();
    await expectSound(watched);
    await page.getByLabel('Name').fill('Season 2');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await leaving(page).waitFor();
    await confirmInDialog(page, 'Stay');
    await page.getByRole('button', { name: 'Create the deployment' }).click();
    await page.waitForURL(/\/live/);
    await page.goto(page.url().replace(/\/live.*/, '/run'));
    await page.getByRole('option', { name: 'race_result (version 1)' }).waitFor({ state: 'attached' });
    expect(await page.getByRole('option').filter({ hasText: 'training' }).count()).toBe(0);
    await page.goto(page.url().replace(/\/run$/, '/settings'));
    await confirm(page, 'Delete', 'Season 2');
    await page.getByRole('heading', { name: 'Derby', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Season 2' }).first().waitFor({ state: 'detached' });
    expect(watched.faults).toEqual([]);
  });

  it.each([
    ['pushes', 'This server has no chain to push to.'],
    ['payments', 'Nobody has paid here yet.'],
    ['schedules', 'Nothing runs by itself here.'],
    ['ai', 'No model was asked in these days.'],
  ])('say on the empty page of %s what comes next', async (tab, words) => {
    await using watched = await house.open(`${path}/${tab}`);
    await watched.page.getByText(words).waitFor();
    await expectSound(watched);
  });
});
