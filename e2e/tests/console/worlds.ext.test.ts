import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keyOfAnother } from '../../src/access/callers.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { confirmInDialog, writeEditor } from '../../src/console/write-editor.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';

describeWithProgram('chromium', 'building a world in the console', () => {
  let house: ConsoleHouse;
  beforeAll(async () => {
    house = await startConsoleHouse();
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const editor = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
  /** The address of the page, with the world's address as `W`. */
  const pathOf = (page: Page) =>
    new URL(page.url()).pathname.replace('/console', '').replace(/0x\w{40}/, 'W') +
    new URL(page.url()).search;

  async function derby(): Promise<string> {
    const { address } = await house.orrery.post('/api/worlds', {
      body: { name: 'Derby', domainTags: ['racing'] },
    });
    const path = { worldAddress: address };
    await house.orrery.post('/api/worlds/{worldAddress}/entity-schemas', {
      path,
      body: {
        name: 'horse',
        attributes: [
          { name: 'stamina', type: 'integer', defaultValue: 100, constraints: { min: 0, max: 100 } },
        ],
      },
    });
    const version = {
      inputSchema: { winner: 'string' },
      stateChanges: { horse: 'partial' },
      mutationSettings: {
        mode: 'direct',
        template: { 'horse:{{input.winner}}': { stamina: { $increment: -20 } } },
      },
    } as const;
    await house.orrery.post('/api/worlds/{worldAddress}/events', {
      path,
      body: { name: 'race', firstVersion: version },
    });
    await house.orrery.post('/api/worlds/{worldAddress}/events/{eventName}/event-versions', {
      path: { ...path, eventName: 'race' },
      body: {
        ...version,
        inputSchema: { winner: 'string', laps: 'integer?' },
        outputSchema: { finish: 'float?' },
      },
    });
    return address;
  }

  it('begins with a page that offers the first step, and takes a name', async () => {
    await using watched = await house.open('/');
    const { page } = watched;
    await page.getByText('You have no worlds yet').waitFor();
    await button(page, 'New world').first().click();
    await button(page, 'Create').click();
    await page.getByLabel('Name').and(page.locator('[aria-invalid=true]')).waitFor();
    await page.getByText('Give a value.').waitFor();
    await page.getByLabel('Name').fill('Racecourse');
    await page.getByLabel('Tags').fill('racing, horses');
    await expectSound(watched);
    await button(page, 'Create').click();
    await page.getByRole('heading', { name: 'Racecourse', level: 1 }).waitFor();
    await page.getByText('There is nothing in this world yet.').waitFor();
    await page.getByText('Nothing can happen in this world yet.').waitFor();
    await page.getByText('Nothing runs this world yet.').waitFor();
    await expectSound(watched);
    await button(page, 'Publish').click();
    await confirmInDialog(page, 'Publish');
    await page.getByText('published', { exact: true }).waitFor();
    await button(page, 'Delete').click();
    // What cannot be undone is typed before.
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
    await page.getByLabel('Type Racecourse to confirm').fill('Racecourse');
    await expectSound(watched);
    await confirmInDialog(page, 'Delete');
    await page.getByText('You have no worlds yet').waitFor();
  });

  it('shows the rules of an attribute at work, and what the API says where it says it', async () => {
    const world = await derby();
    await using watched = await house.open(`/worlds/${world}/schemas/horse`);
    const { page } = watched;
    await page.getByRole('cell', { name: '≥ 0, ≤ 100' }).waitFor();
    await expectSound(watched);
    await button(page, 'New attribute').click();
    await page.getByLabel('Name').fill('wins');
    await page.getByLabel('Least').fill('5');
    await page.getByLabel('Default').fill('3');
    await page.getByText('The default is below 5.').waitFor();
    const atWork = page.getByRole('region', { name: 'The rules at work' });
    await atWork.getByText('is below 5').waitFor();
    await atWork.getByLabel('Try a value').fill('7');
    await atWork.getByText('is fine').waitFor();
    await button(page, 'Create').click();
    // The service's own words, at the field.
    await page.getByLabel('Default').and(page.locator('[aria-invalid=true]')).waitFor();
    await expectSound(watched);
    await page.getByLabel('Least').fill('0');
    // What cannot be read is no empty field: sent, it would be null and remove what is there.
    for (const [label, text] of [
      ['Default', '7O'],
      ['Greatest', '1e'],
    ] as const) {
      const field = page.getByLabel(label);
      await field.fill(text);
      await button(page, 'Create').click();
      await field.and(page.locator('[aria-invalid=true]:focus')).waitFor();
      await field.fill(label === 'Default' ? '3' : '');
    }
    await button(page, 'Create').click();
    await page.getByRole('cell', { name: 'wins', exact: true }).waitFor();
    expect(
      await house.orrery.get('/api/worlds/{worldAddress}/entity-schemas/{schemaName}', {
        path: { worldAddress: world, schemaName: 'horse' },
      }),
    ).toMatchObject({ attributes: [{}, { name: 'wins', defaultValue: 3, constraints: { min: 0 } }] });
  });

  it('counts the instances that a changed schema leaves behind, and maps them', async () => {
    const worldAddress = await derby();
    const { address } = await house.orrery.post('/api/worlds/{worldAddress}/deployments', {
      path: { worldAddress },
      body: { name: 'Season 1', bindings: [] },
    });
    const instances = '/api/worlds/{worldAddress}/deployments/{address}/entity-instances' as const;
    const path = { worldAddress, address };
    await house.orrery.post(instances, {
      path,
      body: { entitySchema: 'horse', instanceId: 'H1', state: { laps: 3 } },
    });
    await house.orrery.post('/api/worlds/{worldAddress}/entity-schemas/{schemaName}/attributes', {
      path: { worldAddress, schemaName: 'horse' },
      body: { name: 'rounds', type: 'integer', constraints: { required: true } },
    });
    await using watched = await house.open(`/worlds/${worldAddress}/schemas/horse`);
    const { page } = watched;
    await button(page, 'Count').click();
    await page.getByRole('row', { name: /Season 1 1 1/ }).waitFor();
    await expectSound(watched);
    await button(page, 'Map').click();
    await writeEditor(page, 'New values', '{ "rounds": "{{ instance.laps }}", "laps": null }');
    await button(page, 'Dry run').click();
    await page.getByText('1 of 1 instances did not satisfy the schema; 1 would be mapped.').waitFor();
    await button(page, 'Map them').click();
    await page.getByText('1 of 1 instances did not satisfy the schema; 1 were mapped.').waitFor();
    await expectSound(watched);
    await button(page, 'Close').last().click();
    await page.getByRole('row', { name: /Season 1 1 none/ }).waitFor();
    const one = `${instances}/{instanceId}` as const;
    const { state } = await house.orrery.get(one, { path: { ...path, instanceId: 'H1' } });
    expect(state).toEqual({ stamina: 100, rounds: 3 });
  });

  it('ends counting on request, and when the page is left', async () => {
    const worldAddress = await derby();
    await house.orrery.post('/api/worlds/{worldAddress}/deployments', {
      path: { worldAddress },
      body: { name: 'Season 1', bindings: [] },
    });
    await using watched = await house.open(`/worlds/${worldAddress}/schemas/horse`);
    const { page } = watched;
    // It is never answered.
    await page.route('**/entity-instances/check', () => undefined);
    const ended = (end: () => Promise<unknown>) =>
      Promise.all([page.waitForEvent('requestfailed', (request) => request.url().endsWith('/check')), end()]);
    const count = () =>
      Promise.all([page.waitForRequest('**/entity-instances/check'), button(page, 'Count').click()]);
    await count();
    await page.getByRole('progressbar').waitFor();
    await ended(() => button(page, 'Stop').click());
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    await count();
    await ended(() => page.getByRole('link', { name: 'race', exact: true }).click());
    expect(watched.faults).toEqual([]);
  });

  it('compares any two versions side by side, and the address holds which', async () => {
    const world = await derby();
    await using watched = await house.open(`/worlds/${world}/events/race`);
    const { page } = watched;
    // What a version says, in words; its JSON is a click away.
    await page.getByRole('heading', { name: 'Version 2', exact: true }).waitFor();
    await page.getByText('whole number, may be left out').waitFor();
    await page.getByText('horse: partial, attribute by attribute').waitFor();
    await page.getByText('As JSON').click();
    await page.getByRole('region', { name: 'Definition of version 2' }).waitFor();
    await page.getByRole('link', { name: '1', exact: true }).click();
    await page.getByRole('heading', { name: 'Version 1', exact: true }).waitFor();
    await page.getByRole('link', { name: '2', exact: true }).click();
    const diff = page.getByRole('region', { name: 'Version 1 and version 2' });
    await diff.getByText('"laps": "integer?"').waitFor();
    expect(await diff.getByText('"stamina"').count()).toBe(0);
    await page.getByLabel('What is the same too').check();
    await diff.getByText('"stamina": {').first().waitFor();
    await expectSound(watched);
    await page.getByLabel('Left').selectOption('2');
    await page.getByLabel('Right').selectOption('1');
    await page.getByRole('region', { name: 'Version 2 and version 1' }).waitFor();
    await expect.poll(() => pathOf(page)).toBe('/worlds/W/events/race?right=1&left=2');
    await page.reload();
    await page.getByRole('region', { name: 'Version 2 and version 1' }).waitFor();
  });

  it('locks a version, which is then copied and not edited, and passes warnings on', async () => {
    const world = await derby();
    await using watched = await house.open(`/worlds/${world}/events/race`);
    const { page } = watched;
    await page
      .getByRole('row', { name: /^1 draft/ })
      .getByRole('button', { name: 'Lock' })
      .click();
    await page.getByRole('dialog').getByText('This cannot be undone').waitFor();
    await expectSound(watched);
    await confirmInDialog(page, 'Lock');
    const locked = page.getByRole('row', { name: /^1 locked/ });
    await locked.waitFor();
    expect(await locked.getByRole('link', { name: 'Edit version 1' }).count()).toBe(0);
    await locked.getByRole('link', { name: 'Copy version 1' }).click();
    await page.getByRole('heading', { name: 'New version of race' }).waitFor();
    await writeEditor(page, 'Template', '{ "horse:{{input.winner}}": { "stamena": 1 } }');
    await button(page, 'Create the version').click();
    await page.getByRole('row', { name: /^3 draft/ }).waitFor();
    // What the service warns of is said on the page that follows.
    const warning = page.getByRole('status').getByText('Did you mean "stamina"?');
    await warning.getByText('Template, stamena of horse:{{input.winner}}:').waitFor();
    expect(await warning.textContent()).not.toContain('/mutationSettings');
  });

  it('marks what the API refuses in the template at its place, and saves what it takes', async () => {
    const world = await derby();
    await using watched = await house.open(`/worlds/${world}/events/race/edit?version=2`);
    const { page } = watched;
    await editor(page, 'Template').waitFor();
    await expectSound(watched);
    // Typed over coloured text, which the browser by itself would do with style attributes.
    await editor(page, 'Template').press('ControlOrMeta+a');
    await editor(page, 'Template').press('x');
    await editor(page, 'Template').getByText('x', { exact: true }).waitFor();
    await writeEditor(
      page,
      'Template',
      '{ "horse:{{input.winner}}": { "stamina": "{{ input.nobody + 1 }}" } }',
    );
    await button(page, 'Save version 2').click();
    const pointer = '/horse:{{input.winner}}/stamina';
    await page.getByText(pointer, { exact: true }).waitFor();
    await page.locator('.cm-lintRange-error', { hasText: 'input.nobody' }).waitFor();
    await expectSound(watched);
    await writeEditor(page, 'Template', '{ "horse:{{input.winner}}": { "stamina": ');
    await button(page, 'Save version 2').click();
    await page.getByRole('alert').getByText('Look at: Template.').waitFor();
    await editor(page, 'Template').and(page.locator(':focus')).waitFor();
    await writeEditor(page, 'Template', '{ "horse:{{input.winner}}": { "stamina": { "$increment": -10 } } }');
    await page.getByLabel('Started by').selectOption('cron');
    await page.getByLabel('Schedule').fill('30 8 * * 1');
    await page
      .getByRole('region', { name: 'Next due times' })
      .getByText('At 08:30, only on Monday')
      .waitFor();
    await page.getByLabel('Schedule').fill('61 8 * * 1');
    await page.getByLabel('Schedule').and(page.locator('[aria-invalid=true]')).waitFor();
    await button(page, 'Save version 2').click();
    // What is refused is led to.
    const refused = page.getByLabel('Schedule').and(page.locator('[aria-invalid=true]:focus'));
    await refused.waitFor();
    // It is said there, once: elsewhere the page only leads to it.
    const bar = page.getByRole('alert').filter({ hasText: /It was not saved\. Look at: .*Schedule/ });
    expect(await page.getByText(/not "61"/).count()).toBe(1);
    await page.getByLabel('Started by').focus();
    await bar.getByRole('button', { name: 'Show' }).click();
    await refused.waitFor();
    await page.getByLabel('Schedule').fill('30 8 * * 1');
    await writeEditor(page, 'Input of each run', '{ "winner": "A" }');
    await expectSound(watched);
    await button(page, 'Save version 2').click();
    await page.getByRole('heading', { name: 'race', level: 1, exact: true }).waitFor();
    const path = { worldAddress: world, eventName: 'race', version: 2 };
    const saved = await house.orrery.get(
      '/api/worlds/{worldAddress}/events/{eventName}/event-versions/{version}',
      { path },
    );
    expect(saved).toMatchObject({
      mutationSettings: { template: { 'horse:{{input.winner}}': { stamina: { $increment: -10 } } } },
      executionSettings: { visibility: 'cron', cron: { schedule: '30 8 * * 1', input: { winner: 'A' } } },
    });
  });

  it('makes an event that a model decides, with what it reads and its guards', async () => {
    const world = await derby();
    await using watched = await house.open(`/worlds/${world}/new-event`);
    const { page } = watched;
    await page.getByRole('navigation', { name: 'Where you are' }).getByText('New event').waitFor();
    await button(page, 'Create the event').click();
    await page.getByLabel('Name').and(page.locator('[aria-invalid=true]')).waitFor();
    await page.getByLabel('Name').fill('story');
    expect(await editor(page, 'Input').textContent()).toBe('');
    await writeEditor(page, 'Input', '{ "weather": "string" }');
    await button(page, 'Read a schema').click();
    await page.getByLabel('Decided by').selectOption('ai');
    await writeEditor(page, 'Behaviour prompt', 'Let one of them win.');
    await editor(page, 'Behaviour prompt').press('Enter');
    await editor(page, 'Behaviour prompt').pressSequentially('Tire the others.');
    // Nothing typed is lost without being asked about.
    const leaving = page.getByRole('dialog', { name: 'Leave without saving?' });
    await page.getByRole('link', { name: 'Cancel' }).click();
    await leaving.waitFor();
    await confirmInDialog(page, 'Stay');
    const mayClose = `dispatchEvent(new Event('beforeunload', { cancelable: true }))`;
    expect(await page.evaluate(mayClose)).toBe(false);
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('story');
    await page.getByLabel('Creating instances').selectOption('no');
    await page.getByLabel('Instances changed at most').fill('1e');
    await button(page, 'Create the event').click();
    await page
      .getByLabel('Instances changed at most')
      .and(page.locator('[aria-invalid=true]:focus'))
      .waitFor();
    await page.getByLabel('Instances changed at most').fill('2');
    await expectSound(watched);
    await button(page, 'Create the event').click();
    await page.getByRole('heading', { name: 'story', level: 1 }).waitFor();
    await page.getByText('An AI model, asked with this prompt:').waitFor();
    await page.getByText('It changes existing instances only and creates none.').waitFor();
    await page.getByText('Nothing runs it yet.').waitFor();
    await expectSound(watched);
    const path = { worldAddress: world };
    const bindings = [{ event: 'race', eventVersion: 2 }];
    const body = { name: 'Season', bindings };
    await house.orrery.post('/api/worlds/{worldAddress}/deployments', { path, body });
    await page.reload();
    const season = page.getByRole('region', { name: 'Where it runs' }).getByRole('row', { name: /^Season/ });
    await season.getByRole('link', { name: 'Bind it' }).waitFor();
    await expectSound(watched);
    await page.getByRole('link', { name: 'race', exact: true }).click();
    await season.getByText('version 2').waitFor();
  });

  it('renames a schema and an event, and says at the name what the API refuses', async () => {
    const world = await derby();
    const path = { worldAddress: world };
    await house.orrery.post('/api/worlds/{worldAddress}/entity-schemas', { path, body: { name: 'trak' } });
    await using watched = await house.open(`/worlds/${world}/schemas/trak`);
    const { page } = watched;
    const rename = async (name: string, description: string) => {
      await button(page, 'Edit').click();
      await page.getByLabel('Name').fill(name);
      await page.getByLabel('Description').fill(description);
      await button(page, 'Save').click();
    };
    await rename('horse', '');
    await page.getByLabel('Name').and(page.locator('[aria-invalid=true]')).waitFor();
    await expectSound(watched);
    await page.getByLabel('Name').fill('track');
    await page.getByLabel('Description').fill('Where they run');
    await confirmInDialog(page, 'Save');
    await page.getByRole('heading', { name: 'track', level: 1 }).waitFor();
    await page.getByText('Where they run').waitFor();
    await expect.poll(() => pathOf(page)).toBe('/worlds/W/schemas/track');
    await page.getByRole('link', { name: 'race', exact: true }).click();
    await page.getByRole('heading', { name: 'race', level: 1, exact: true }).waitFor();
    await rename('race_run', 'One race');
    await page.getByRole('heading', { name: 'race_run', level: 1 }).waitFor();
    await page.getByText('One race').waitFor();
    await expect.poll(() => pathOf(page)).toBe('/worlds/W/events/race_run');
    expect(watched.faults).toEqual([]);
  });

  it('leads to what lies beyond the first hundred of a list', async () => {
    const world = await derby();
    const path = { worldAddress: world };
    const many = Array.from({ length: 101 }, (_, n) => n + 1);
    const firstVersion = { stateChanges: { horse: 'partial' } } as const;
    for (const n of many)
      await house.orrery.post('/api/worlds/{worldAddress}/events', {
        path,
        body: { name: `event_${n}`, firstVersion },
      });
    for (const n of many.slice(0, 51))
      await house.orrery.post('/api/worlds/{worldAddress}/deployments', {
        path,
        body: { name: `Season ${n}`, bindings: [] },
      });
    await using watched = await house.open(`/worlds/${world}`);
    const { page } = watched;
    await page.getByRole('navigation', { name: 'Main' }).getByText('and 72 more').waitFor();
    await page.getByLabel('Find events').fill('event_101');
    const events = page.getByRole('region', { name: 'Events', exact: true });
    await events.getByRole('link', { name: 'event_101', exact: true }).waitFor();
    expect(await events.getByRole('link').count()).toBe(1);
    await page.getByText('1–50 of 51 deployments').waitFor();
    await expectSound(watched);
    await button(page, 'Next').click();
    await page.getByRole('link', { name: 'Season 51', exact: true }).click();
    await page.getByRole('link', { name: 'Settings' }).click();
    // A second button comes with the list, once it is known to be empty.
    await button(page, 'Bind an event').first().click();
    await page.getByRole('dialog').getByLabel('Event', { exact: true }).selectOption('event_101');
    await confirmInDialog(page, 'Bind');
    await page.getByRole('row', { name: /^event_101 1/ }).waitFor();
    expect(watched.faults).toEqual([]);
  });

  it('offers readers of a published world nothing that its owner alone may do', async () => {
    const world = await derby();
    await house.orrery.post('/api/worlds/{idOrAddress}/publish', { path: { idOrAddress: world } });
    const key = await keyOfAnother(house.system.commandEnv);
    const offered = async (path: string, open?: { key: string }) => {
      await using watched = await house.open(path, open);
      const { page } = watched;
      const main = page.getByRole('main');
      await main.getByRole('heading', { name: /^(Derby|race)$/ }).waitFor();
      await page.waitForLoadState('networkidle');
      return await main.getByText(/^(New|Edit|Delete|Bind)/).allInnerTexts();
    };
    for (const path of [`/worlds/${world}`, `/worlds/${world}/events/race`]) {
      expect(await offered(path)).not.toEqual([]);
      expect(await offered(path, { key })).toEqual([]);
    }
  });
});
