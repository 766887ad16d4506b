import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { writeEditor } from '../../src/console/write-editor.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { counting, makeWorld, plant } from '../../src/worlds/make-world.js';

const race = {
  inputSchema: { winner: 'string' },
  stateChanges: { horse: 'partial' },
  mutationSettings: { mode: 'direct', template: { 'horse:{{input.winner}}': { wins: 1 } } },
};

describeWithProgram('chromium', 'the editor of a version while one types', () => {
  let house: ConsoleHouse;
  let api: ApiClient;
  let event: string;
  beforeAll(async () => {
    house = await startConsoleHouse();
    api = apiClient(house.system.url, house.system.key);
    const { path } = await makeWorld(api, {
      name: 'Derby',
      schemas: [counting('horse', 'wins', 'starts')],
      events: [{ name: 'race', firstVersion: race }],
    });
    event = `${path}/events/race`;
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  it('marks what saving would refuse, and stores nothing', async () => {
    await using watched = await house.open(`${event}/edit?version=1`);
    const { page } = watched;
    await writeEditor(page, 'Template', '{ "horse:{{input.nobody}}": { "wins": 1 } }');
    const problem = page.getByRole('listitem').filter({ hasText: 'nobody' });
    await problem.first().waitFor();
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    await writeEditor(page, 'Template', '{ "horse:{{input.winner}}": { "wins": 2 } }');
    await problem.first().waitFor({ state: 'detached' });
    const stored = (await api.get(`${event}/event-versions/1`)).body.data;
    expect(stored.mutationSettings.template).toEqual(race.mutationSettings.template);
  });

  it('completes attributes, operators, names and members of the input', async () => {
    await using watched = await house.open(`${event}/edit?version=1`);
    const { page } = watched;
    const editor = page.getByRole('textbox', { name: 'Template' });
    const offered = page.getByRole('listbox', { name: 'Completions' });
    await writeEditor(page, 'Template', '{ "horse:A": { ');
    await page.keyboard.type('"st', { delay: 20 });
    await offered.getByRole('option', { name: /^starts/ }).waitFor();
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    await editor.focus();
    await writeEditor(page, 'Template', '{ "horse:A": { "wins": { ');
    await page.keyboard.type('"$inc', { delay: 20 });
    // Enter so soon after it was offered is meant for the text.
    await offered.getByRole('option', { name: /^\$increment/ }).click();
    await expect.poll(() => editor.textContent()).toContain('"$increment"');
    await writeEditor(page, 'Template', '{ "result": ');
    await page.keyboard.type('"{{ input.w', { delay: 20 });
    await offered.getByRole('option', { name: /^winner/ }).click();
    await expect.poll(() => editor.textContent()).toContain('input.winner');
    expect(watched.faults).toEqual([]);
  });

  it('tries what is typed with the present state, before it is saved', async () => {
    const world = await makeWorld(api, {
      name: 'Tries',
      schemas: [counting('horse', 'wins')],
      events: [{ name: 'race', firstVersion: race }],
    });
    await using watched = await house.open(`${world.path}/events/race/edit?version=1`);
    const { page } = watched;
    await page.getByText('The state comes from a deployment of the world.').waitFor();
    const { path } = await world.deploy({ name: 'Season 1' });
    await plant(api, path, 'horse', 'A', { wins: 3 });
    await page.reload();
    await page.getByLabel('With the state of').waitFor();
    await writeEditor(page, 'Template', '{ "horse:{{input.winner}}": { "wins": { "$increment": 4 } } }');
    await page.getByLabel('winner').fill('A');
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByText('The version as it is typed would do this.').waitFor();
    await page.getByRole('row', { name: /wins 3 7/ }).waitFor();
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    await writeEditor(page, 'Template', '{ "cow:{{input.winner}}": { "wins": 1 } }');
    await page.getByText('The version or the input has been changed since.').waitFor();
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByText('The dry run failed').waitFor();
    const stored = (await api.get(`${world.path}/events/race/event-versions/1`)).body.data;
    expect(stored.mutationSettings.template).toEqual(race.mutationSettings.template);
    expect((await api.get(`${path}/history`)).body.data).toEqual([]);
    expect(watched.faults).toEqual([]);
  });

  it('completes conditions over what is read', async () => {
    await using watched = await house.open(`${event}/edit?version=1`);
    const { page } = watched;
    await page.getByRole('button', { name: 'Read a schema' }).click();
    await page.getByRole('textbox', { name: 'Those for which this holds' }).click();
    await page.keyboard.type('instance.st', { delay: 20 });
    await page
      .getByRole('listbox', { name: 'Completions' })
      .getByRole('option', { name: 'startsinteger' })
      .click();
    const condition = page.getByRole('textbox', { name: 'Those for which this holds' });
    await expect.poll(() => condition.textContent()).toBe('instance.starts');
    await page.keyboard.type(' > 3');
    await page.getByRole('button', { name: 'Save version 1' }).click();
    await page.waitForURL(/events\/race\?/);
    const stored = (await api.get(`${event}/event-versions/1`)).body.data;
    expect(stored.readEntities).toMatchObject([{ schema: 'horse', where: 'instance.starts > 3' }]);
    expect(watched.faults).toEqual([]);
  });
});
