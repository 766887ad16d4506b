import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { confirmInDialog, writeEditor } from '../../src/console/write-editor.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';

describeWithProgram('chromium', 'somebody who sees the console for the first time', () => {
  let house: ConsoleHouse;
  beforeAll(async () => {
    house = await startConsoleHouse();
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  it('makes a world with an event of a model, a schedule and a priced event, and hands out the link for players', async () => {
    await using watched = await house.open('/');
    const { page } = watched;
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const dialog = page.getByRole('dialog');
    const toWorld = () => page.getByRole('link', { name: 'Harbour', exact: true }).first().click();
    const newEvent = async (name: string) => {
      await toWorld();
      await page.getByRole('link', { name: 'New event' }).first().click();
      await page.getByLabel('Name').fill(name);
    };
    const create = async (name: string) => {
      await button('Create the event').click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    };

    await button('New world').click();
    await dialog.getByLabel('Name').fill('Harbour');
    await dialog.getByLabel('Prompt seed').fill('A harbour town in the north.');
    await dialog.getByRole('button', { name: 'Create' }).click();
    // In the order in which one needs them.
    await button('New schema').click();
    await dialog.getByLabel('Name').fill('tavern');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('It has no attributes yet.').waitFor();
    expect(await button('New attribute').count()).toBe(1);
    expect(await page.getByText('States that follow').count()).toBe(0);
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    for (const [name, type, initial] of [
      ['guests', 'integer', '0'],
      ['mood', 'string', 'calm'],
    ] as const) {
      await button('New attribute').click();
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByLabel('Type').selectOption(type);
      await dialog.getByLabel('Default').fill(initial);
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.waitFor({ state: 'detached' });
    }

    await newEvent('evening');
    await button('Read a schema').click();
    await page.getByLabel('Decided by').selectOption('ai');
    await writeEditor(page, 'Behaviour prompt', 'Say how the evening went, and change guests and mood.');
    await create('evening');

    await newEvent('toast');
    await writeEditor(page, 'Input', '{ "tavern": "string" }');
    await writeEditor(
      page,
      'Template',
      '{ "stateChanges": { "tavern:{{input.tavern}}": { "guests": { "$increment": 1 } } } }',
    );
    await page.getByLabel('Started by').selectOption('public');
    await page.getByLabel(/^Price/).fill('0.05');
    await create('toast');

    await newEvent('closing');
    await writeEditor(page, 'Template', '{ "stateChanges": { "tavern:anchor": { "guests": 0 } } }');
    await page.getByLabel('Started by').selectOption('cron');
    await page.getByLabel('Schedule').fill('0 2 * * *');
    await create('closing');

    await page.getByRole('link', { name: 'New deployment' }).first().click();
    await page.getByLabel('Name').fill('Winter');
    await button('Create the deployment').click();
    // What the service warns of is said where one is led.
    await page.getByText(/"toast" costs 0.05 USD and the deployment has no payToAddress/).waitFor();
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    await button('New instance').click();
    await dialog.getByLabel('Instance id').fill('anchor');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Run', exact: true }).click();
    await button('Dry run').click();
    await page.getByRole('heading', { name: 'What would change' }).waitFor();
    await button('Execute').click();
    await page.getByRole('heading', { name: 'What has changed' }).waitFor();

    await page.getByRole('link', { name: 'Private: publish it for players' }).click();
    await page.getByLabel('Address that payments go to').fill('0x000000000000000000000000000000000000dEaD');
    await button('Save').click();
    await button('Publish').click();
    await confirmInDialog(page, 'Publish');
    await button('Copy: address of the player’s page').waitFor();
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByRole('link', { name: 'Schedules', exact: true }).click();
    await page.getByText('At 02:00').first().waitFor();

    const opened = watched.page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Player’s page' }).click();
    const player = await opened;
    await player.getByRole('heading', { name: 'Winter' }).waitFor();
    await player.getByText('1 entity').waitFor();
    await player.getByRole('button', { name: 'Play for $0.05' }).waitFor();
    expect(watched.faults).toEqual([]);
  });
});
