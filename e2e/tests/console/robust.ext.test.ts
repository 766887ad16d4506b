import type { Orrery } from '@orrery/sdk';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type ConsoleHouse, startConsoleHouse, type WatchedPage } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { writeEditor } from '../../src/console/write-editor.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { horseSchema, raceResult } from '../../src/worlds/racing-world.js';

/** As often as one likes: nobody tires. */
const count = {
  name: 'race_result',
  firstVersion: {
    ...raceResult.firstVersion,
    mutationSettings: {
      mode: 'direct',
      template: { stateChanges: { 'horse:{{input.winner}}': { wins: { $increment: 1 } } } },
    },
  },
};

/** As long as names may be, without a place to break a line. */
const LONG = 'n'.repeat(250);
/** More than a table shows without scrolling. */
const MANY = 70;

describeWithProgram('chromium', 'what a builder runs into during a day with the console', () => {
  let house: ConsoleHouse;
  beforeAll(async () => {
    house = await startConsoleHouse();
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  async function plant(orrery: Orrery, name = 'Derby', description = '') {
    const { address: worldAddress } = await orrery.post('/api/worlds', { body: { name, description } });
    const path = { worldAddress };
    await orrery.post('/api/worlds/{worldAddress}/entity-schemas', { path, body: horseSchema as never });
    await orrery.post('/api/worlds/{worldAddress}/events', { path, body: count as never });
    const body = { name, description, bindings: [{ event: 'race_result', eventVersion: 1 }] };
    const { address } = await orrery.post('/api/worlds/{worldAddress}/deployments', { path, body });
    await orrery.post('/api/worlds/{worldAddress}/deployments/{address}/entity-instances', {
      path: { worldAddress, address },
      body: { entitySchema: 'horse', instanceId: name },
    });
    const deployment = orrery.deployment(worldAddress, address);
    return {
      world: `/worlds/${worldAddress}`,
      path: `/worlds/${worldAddress}/deployments/${address}`,
      deployment,
    };
  }
  const win = ({ deployment }: Awaited<ReturnType<typeof plant>>, winner = 'Derby') =>
    deployment.execute({ event: 'race_result', input: { raceId: 'R', winner } });

  it('shows the rows of a long table, and each can be worked with', async () => {
    for (let at = 0; at < MANY; at += 1)
      await house.orrery.post('/api/keys', { body: { name: `key ${at}`, scopes: ['read'] } });
    await using watched = await house.open('/keys');
    const { page } = watched;
    const rows = page.getByRole('region', { name: 'API keys' }).getByRole('row');
    await expect.poll(() => rows.count()).toBeGreaterThan(10);
    await rows.getByRole('button', { name: 'Revoke' }).first().waitFor();
    await expectSound(watched);
  });

  it.each(['', '/live', '/run', '/settings', '/verify'])(
    'keeps names of 250 characters within the page of a deployment%s',
    async (part) => {
      const { path, world } = await plant(house.orrery, LONG, LONG);
      await using watched = await house.open(part === '' ? world : `${path}${part}`);
      await watched.page.getByRole('heading', { name: LONG }).waitFor();
      await expectSound(watched);
    },
  );

  it('goes on in a second tab, and forgets the session with the last one', async () => {
    await using watched = await house.open('/keys');
    const { page } = watched;
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    const [second] = await Promise.all([
      page.context().waitForEvent('page'),
      page
        .getByRole('link', { name: 'Worlds', exact: true })
        .first()
        .click({ modifiers: ['ControlOrMeta'] }),
    ]);
    await second.getByRole('heading', { name: 'Worlds', exact: true }).waitFor();
    await using stranger = await house.open('/', { key: null });
    await stranger.page.getByRole('heading', { name: 'Sign in to Orrery' }).waitFor();
  });

  it('keeps what was typed when the key ends, behind the sign-in', async () => {
    const { id, token } = await house.orrery.post('/api/keys', {
      body: { name: 'short', scopes: ['read', 'write'] },
    });
    await using watched = await house.open('/', { key: token });
    const { page } = watched;
    await page.getByRole('button', { name: 'New world' }).first().click();
    await page.getByLabel('Name').fill('Kept');
    await house.orrery.delete('/api/keys/{id}', { path: { id } });
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByText('Your session has ended').waitFor();
    await expectSound(watched);
    await page.getByLabel('API key').fill(house.system.key);
    await page.getByLabel('API key').press('Enter');
    const name = page.getByRole('dialog').getByLabel('Name');
    await name.waitFor();
    expect(await name.inputValue()).toBe('Kept');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Kept' }).waitFor();
  });

  it.each([
    ['world', '/worlds/0x0123456789012345678901234567890123456789'],
    ['deployment', '/worlds/$/deployments/0x0123456789012345678901234567890123456789/live'],
    ['event', '/worlds/$/events/none'],
    ['version', '/worlds/$/events/race_result/edit?version=99'],
    ['entity schema', '/worlds/$/schemas/none'],
  ])('says that there is no such %s, and leads back', async (what, path) => {
    const { world } = await plant(house.orrery);
    await using watched = await house.open(path.replace('/worlds/$', world));
    await watched.page.getByRole('heading', { name: `There is no such ${what}` }).waitFor();
    await watched.page.getByRole('link', { name: /^To the world/ }).click();
    await watched.page
      .getByRole('heading', { name: 'Derby' })
      .or(watched.page.getByText('Worlds'))
      .first()
      .waitFor();
  });

  it('tries an event with Enter, and executes it with another', async () => {
    const planted = await plant(house.orrery);
    await using watched = await house.open(`${planted.path}/run?event=race_result`);
    const { page } = watched;
    await page.getByLabel('raceId').fill('R1');
    await page.getByLabel('winner').fill('Derby');
    await page.getByLabel('winner').press('Enter');
    await page.getByText('Nothing is committed').or(page.getByText('would change')).first().waitFor();
    await page.getByLabel('winner').press('Enter');
    await expect
      .poll(() =>
        planted.deployment
          .history()
          .next()
          .then(({ value }) => value?.status),
      )
      .toBe('succeeded');
  });

  it('shows what another tab has saved meanwhile, in place of losing it', async () => {
    const { world } = await plant(house.orrery);
    await using one = await house.open(`${world}/events/race_result/edit?version=1`);
    const two = await one.page.context().newPage();
    await two.goto(one.page.url());
    const template = (winner: string) =>
      JSON.stringify({ stateChanges: { [`horse:${winner}`]: { wins: 1 } } });
    await writeEditor(one.page, 'Template', template('FIRST'));
    await writeEditor(two, 'Template', template('SECOND'));
    await one.page.getByRole('button', { name: 'Save version 1' }).click();
    await one.page.getByRole('heading', { name: 'race_result' }).waitFor();
    await two.getByRole('button', { name: 'Save version 1' }).click();
    await two.getByText('Somebody else has changed it since you opened it').waitFor();
    await two
      .getByRole('region', { name: 'What is there now, and yours' })
      .getByText('horse:FIRST')
      .waitFor();
    await expectSound({ ...one, page: two });
    await two.getByRole('button', { name: 'Save mine over it' }).click();
    await two.getByRole('heading', { name: 'race_result' }).waitFor();
    await two.getByText('horse:SECOND').first().waitFor();
  });

  it('takes back what was refused of a field once it is corrected', async () => {
    const { world } = await plant(house.orrery);
    await using watched = await house.open(`${world}/schemas/horse`);
    const { page } = watched;
    await page.getByRole('button', { name: 'New attribute' }).click();
    await page.getByLabel('Name').fill('age');
    await page.getByLabel('Least (min)').fill('5');
    await page.getByLabel('Greatest (max)').fill('1');
    await page.getByRole('button', { name: 'Create' }).click();
    const wrong = page.getByRole('dialog').locator('[aria-invalid=true]');
    await wrong.first().waitFor();
    await page.getByRole('alert').waitFor();
    // The other bound mends it too.
    await page.getByLabel('Greatest (max)').fill('10');
    await page.getByRole('alert').waitFor({ state: 'detached' });
    expect(await wrong.count()).toBe(0);
    await expectSound(watched);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('row', { name: /^age/ }).waitFor();
  });

  it('shows what another tab has changed of an attribute meanwhile', async () => {
    const { world } = await plant(house.orrery);
    await using one = await house.open(`${world}/schemas/horse`);
    const two = await one.page.context().newPage();
    await two.goto(one.page.url());
    for (const page of [one.page, two]) {
      await page.getByRole('button', { name: 'Edit stamina' }).click();
      await page.getByLabel('Greatest (max)').waitFor();
    }
    await one.page.getByLabel('Greatest (max)').fill('111');
    await one.page.getByRole('button', { name: 'Save' }).click();
    await one.page.getByRole('dialog').waitFor({ state: 'detached' });
    await two.getByLabel('Greatest (max)').fill('222');
    await two.getByRole('button', { name: 'Save' }).click();
    await two.getByText('Somebody else has changed it since you opened it').waitFor();
    await two.getByRole('region', { name: 'What is there now, and yours' }).getByText('111').waitFor();
    await expectSound({ ...one, page: two });
    await two.getByRole('button', { name: 'Save mine over it' }).click();
    await two.getByRole('row', { name: /^stamina.*222/ }).waitFor();
  });

  // As after a release that has replaced its files, and as on a line that is gone.
  it.each(['missing', 'away'])(
    'says that a page whose files are %s did not load, and loads it later',
    async (end) => {
      await using watched = await house.open('/');
      const { page } = watched;
      await page.getByRole('heading', { name: 'Worlds', exact: true }).waitFor();
      await page.route('**/assets/keys-page*', (route) =>
        end === 'away' ? route.abort() : route.fulfill({ status: 404 }),
      );
      await page.getByRole('link', { name: 'API keys' }).click();
      await page.getByRole('heading', { name: 'This page did not load' }).waitFor();
      // The browser says of a script that is missing what the router says of the page: that is no fault of it.
      await expectSound({ ...watched, faults: [] });
      await page.setViewportSize({ width: 1280, height: 860 });
      await page.route('**/console/keys', (route) => route.abort());
      await page.getByRole('button', { name: 'Reload' }).click();
      await page.getByText('The server does not answer.').waitFor();
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Reload' }).click();
      await page.getByRole('heading', { name: 'API keys' }).waitFor();
    },
  );

  it('keeps a form whose editor did not load, and loads that again', async () => {
    const { world } = await plant(house.orrery);
    await using watched = await house.open(world);
    const { page } = watched;
    await page.route('**/assets/editor*.js', (route) => route.abort());
    await page.getByRole('link', { name: 'New event' }).first().click();
    await page.getByLabel('Name').fill('kept');
    await page.getByText('The editor could not be loaded').first().waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByRole('textbox', { name: 'Input', exact: true }).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('kept');
  });

  it('follows in eight tabs with one connection, each up to the last entry', async () => {
    const planted = await plant(house.orrery);
    await using first = await house.open(`${planted.path}/live`);
    const tabs: WatchedPage['page'][] = [first.page];
    for (let more = 0; more < 7; more += 1) {
      const tab = await first.page.context().newPage();
      await tab.goto(`${house.system.url}/console${planted.path}/live`);
      tabs.push(tab);
    }
    for (const tab of tabs) await tab.getByText('live', { exact: true }).waitFor();
    for (let race = 0; race < 5; race += 1) await win(planted);
    for (const tab of tabs) await tab.getByRole('heading', { name: 'Entry 7' }).waitFor();
    // The one that holds the stream goes: another one takes over.
    await tabs[0]?.close();
    await win(planted);
    for (const tab of tabs.slice(1)) await tab.getByRole('heading', { name: 'Entry 8' }).waitFor();
  });

  it('keeps the table at the journal under load, on a slow line, and says after which entry it is', async () => {
    const planted = await plant(house.orrery);
    await using watched = await house.open(`${planted.path}/live?schema=horse`);
    const { page } = watched;
    await page.getByText('live', { exact: true }).waitFor();
    await page.route('**/entity-instances*', async (route) => {
      // As long as a slow line takes; nothing waits for this.
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    let reads = 0;
    page.on('request', (request) => (reads += request.url().includes('/entity-instances?') ? 1 : 0));
    for (let round = 0; round < 40; round += 1)
      await Promise.all(Array.from({ length: 10 }, () => win(planted)));
    await page.getByText('1 after entry 402', { exact: true }).waitFor();
    const row = page
      .getByRole('region', { name: 'Instances', exact: true })
      .getByRole('row')
      .filter({ hasText: 'Derby' });
    await vi.waitFor(async () => expect(await row.getByRole('cell').allInnerTexts()).toContain('400'));
    expect(reads).toBeLessThan(20);
  });

  it('says since when the server is away', async () => {
    await using own = await startConsoleHouse();
    const planted = await plant(own.orrery);
    await using watched = await own.open(`${planted.path}/live`);
    await watched.page.getByText('live', { exact: true }).waitFor();
    await own.system[Symbol.asyncDispose]();
    await watched.page.getByText(/^reconnecting since \d\d:/).waitFor();
  });

  it('takes what is typed over a selection at once, on a slow machine too', async () => {
    const { world } = await plant(house.orrery);
    await using watched = await house.open(`${world}/events/race_result/edit?version=1`);
    const { page } = watched;
    const editor = page.getByRole('textbox', { name: 'Template' });
    await editor.waitFor();
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: 10 });
    for (let round = 0; round < 5; round += 1) {
      await editor.click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type('{"a": 12}', { delay: 15 });
      expect(((await editor.textContent()) ?? '').replaceAll(/\s/g, '')).toContain('"a":12}');
      expect(await editor.textContent()).not.toContain('stateChanges');
    }
    expect(watched.faults).toEqual([]);
  });
});
