import { createServer } from 'node:http';
import { listen } from '@orrery/testing/servers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectSound } from '../../src/console/expect-sound.js';
import { openContext } from '../../src/external/browse.js';
import { buttonShown } from '../../src/external/button-shown.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { type PlayHouse, startPlayHouse } from '../../src/play/play-house.js';
import { makeWorld, plant } from '../../src/worlds/make-world.js';

/** As long as names may be, without a place to break a line. */
const LONG = 'n'.repeat(250);
const RIGHT_TO_LEFT = 'مرحبا بالعالم שלום עולם';
const MARKUP = '<img src=x onerror="document.body.textContent=1"><script>alert(1)</script>';

describeWithProgram('chromium', 'watching on the page for players', () => {
  let house: PlayHouse;
  beforeAll(async () => {
    house = await startPlayHouse();
    await plant(house.api, house.world.path, 'guest', 'Ada', { visits: 2 });
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  const enter = (name: string, path = house.world.path) =>
    house.api.post(`${path}/execute`, { event: 'enter', input: { name } });

  it('verifies the history in the browser, and finds what was changed', async () => {
    await enter('Ada');
    await using watched = await house.open(house.world.address);
    const { page } = watched;
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/^Your browser has recomputed all \d+ entries of this history/).waitFor();
    await page.getByText(/entries about settings/).waitFor();
    await expectSound(watched);
    await page.route('**/history?*', async (route) => {
      const answer = await route.fetch();
      const text = (await answer.text()).replaceAll('"visits":3', '"visits":4');
      await route.fulfill({ response: answer, body: text });
    });
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page
      .getByText(/^This history does not hold\. Entry \d+: its hash is not that of its content/)
      .waitFor();
    await expectSound(watched);
  });

  it('decides again what was played, where the owner has opened the rules', async () => {
    await enter('Cleo');
    await house.api.put(house.world.path, { isCodePublic: true });
    await using watched = await house.open(house.world.address);
    const { page } = watched;
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/and the outcome of [1-9]\d* plays? by its rules\./).waitFor();
    expect(await page.getByText('which the owner has not opened').count()).toBe(0);
    await expectSound(watched);
  });

  it('shows any moment, by a link that can be shared', async () => {
    for (const name of ['Bo', 'Bo', 'Bo']) await enter(name);
    await using watched = await house.open(house.world.address);
    const { page } = watched;
    await page.getByRole('row', { name: /Bo\s*3/ }).waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copy = page.getByRole('button', { name: 'Copy a link to this moment' });
    await Promise.all([buttonShown(page, 'Copied'), copy.click()]);
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    const last = Number(new URL(link).searchParams.get('seq'));
    await page.goto(`${house.system.url}/play/${house.world.address}?seq=${last - 1}`);
    await page.getByRole('row', { name: /Bo\s*2/ }).waitFor();
    await page.getByText(`You look at moment ${last - 1} of ${last}`).waitFor();
    expect(await page.getByRole('heading', { name: 'Play' }).count()).toBe(0);
    await expectSound(watched);
    await page.getByRole('button', { name: 'The moment before' }).click();
    await page.getByRole('row', { name: /Bo\s*1/ }).waitFor();
    await page.goBack();
    await page.getByRole('row', { name: /Bo\s*2/ }).waitFor();
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('row', { name: /Bo\s*3/ }).waitFor();
    await page.goto(`${house.system.url}/play/${house.world.address}?seq=99999`);
    await page.getByText(/Moment 99,999 has not come yet/).waitFor();
    expect(watched.faults).toEqual([]);
  });

  it('stands in frames of other pages at /embed alone, without a wallet', async () => {
    const frames = (path: string) =>
      `<iframe title="world" src="${house.system.url}/play/${path}" width="390" height="800"></iframe>`;
    const server = createServer((request, reply) => {
      const path = request.url === '/embed' ? `${house.world.address}/embed` : house.world.address;
      reply.setHeader('content-type', 'text/html').end(frames(path));
    });
    await using listening = await listen(server);
    const context = await openContext(house.browser);
    try {
      const page = await context.newPage();
      await page.goto(`${listening.url}/embed`);
      const frame = page.frameLocator('iframe');
      await frame.getByRole('row', { name: /Ada/ }).waitFor();
      await frame.getByText('live', { exact: true }).waitFor();
      await enter('Framed');
      await frame.getByRole('row', { name: /Framed\s*1/ }).waitFor();
      for (const name of ['Play', 'Share', 'Can I trust this?'])
        expect(await frame.getByRole('heading', { name }).count()).toBe(0);
      const files = await page
        .frames()[1]
        ?.evaluate<string[]>("performance.getEntriesByType('resource').map(({ name }) => name)");
      expect(files?.filter((file) => file.includes('play-section'))).toEqual([]);
      await page.goto(listening.url);
      await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/);
    } finally {
      await context.close();
    }
    await using embedded = await house.open(`${house.world.address}/embed`);
    await embedded.page.getByText('live', { exact: true }).waitFor();
    await expectSound(embedded);
  });

  it('says since when it has lost its stream, and goes on where it was', async () => {
    await using watched = await house.open(house.world.address, {
      prepare: (context) => context.route('**/stream', (route) => route.abort()),
    });
    const { page } = watched;
    await page.getByText(/^reconnecting since/).waitFor();
    await enter('Late');
    await expectSound(watched);
    await page.context().unroute('**/stream');
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('row', { name: /Late\s*1/ }).waitFor();
  });

  it('has no stream while nobody sees it', async () => {
    await using watched = await house.open(house.world.address);
    const { page } = watched;
    await page.getByText('live', { exact: true }).waitFor();
    const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/stream'));
    const turn = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} });
        document.dispatchEvent(new Event('visibilitychange'));`);
    await turn(true);
    await ended;
    await page.getByText('resting').waitFor();
    await enter('Unseen');
    await turn(false);
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('row', { name: /Unseen\s*1/ }).waitFor();
  });

  it('says when a world is paused, goes on, and is closed', async () => {
    const { deploy } = await makeWorld(house.api, { name: 'Short', schemas: [], events: [] });
    const { path, address } = await deploy({ name: 'Short lived' });
    await house.api.post(`${path}/publish`);
    await using watched = await house.open(address);
    const { page } = watched;
    await page.getByText('Nothing here is open to players.').waitFor();
    await page.getByText('Nobody and nothing is in this world yet.').waitFor();
    await expectSound(watched);
    await house.api.post(`${path}/pause`);
    await page.getByText('paused', { exact: true }).waitFor();
    await house.api.post(`${path}/resume`);
    await page.getByText('paused', { exact: true }).waitFor({ state: 'detached' });
    await house.api.post(`${path}/lock`);
    await page.getByText('rules locked').waitFor();
    await house.api.post(`${path}/unpublish`);
    await page.getByRole('heading', { name: 'No world is open here' }).waitFor();
    await expectSound(watched);
  });

  it('is broken by no name, text, number of instances or of attributes', async () => {
    const attributes = Array.from({ length: 200 }, (_, at) => ({
      name: at === 0 ? LONG : at === 1 ? RIGHT_TO_LEFT : `attribute ${at}`,
      type: at % 2 === 0 ? 'string' : 'integer',
      defaultValue: at % 2 === 0 ? MARKUP : at,
    }));
    const event = {
      name: LONG,
      description: MARKUP,
      firstVersion: {
        inputSchema: { [LONG]: 'string', [RIGHT_TO_LEFT]: 'integer?' },
        stateChanges: { wide: 'partial' },
        executionSettings: { visibility: 'public' },
        mutationSettings: { mode: 'direct', template: { stateChanges: {}, result: { said: MARKUP } } },
      },
    };
    const schemas = [{ name: 'wide', attributes }];
    const { deploy } = await makeWorld(house.api, { name: LONG, schemas, events: [event] });
    const { path, address } = await deploy({
      name: RIGHT_TO_LEFT.repeat(8),
      description: `${MARKUP} ${LONG}`,
    });
    await house.api.post(`${path}/publish`);
    for (const id of [LONG, RIGHT_TO_LEFT, MARKUP]) await plant(house.api, path, 'wide', id);
    expect((await house.api.post(`${path}/execute`, { event: LONG, input: { [LONG]: MARKUP } })).status).toBe(
      200,
    );
    await using watched = await house.open(address);
    const { page } = watched;
    await page.getByText('Each has 194 more attributes').waitFor();
    await page.getByText(MARKUP).first().waitFor();
    await expectSound(watched);
    await page.getByRole('button', { name: MARKUP }).first().click();
    await page.getByRole('dialog').getByText('attribute 199').waitFor();
    await expectSound(watched);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    expect(await page.locator('img, iframe').count()).toBe(0);
  });

  it('finds one of 5,000 instances, and orders them', async () => {
    // As many as one execution may make.
    const atOnce = 500;
    const born = Array.from({ length: atOnce }, (_, at) => `input.from + ${at}`);
    const template = Object.fromEntries(born.map((at) => [`herd:H{{ ${at} }}`, { place: `{{ ${at} }}` }]));
    const fill = { inputSchema: { from: 'integer' }, mutationSettings: { mode: 'direct', template } };
    const herd = { name: 'herd', attributes: [{ name: 'place', type: 'integer' }] };
    const { deploy } = await makeWorld(house.api, {
      name: 'Herd',
      schemas: [herd],
      events: [{ name: 'fill', firstVersion: fill }],
    });
    const { path, address } = await deploy();
    await house.api.post(`${path}/publish`);
    for (let from = 0; from < 5000; from += atOnce) {
      const filled = await house.api.post(`${path}/execute`, { event: 'fill', input: { from } });
      expect(filled.status, JSON.stringify(filled.body)).toBe(200);
    }
    await using watched = await house.open(address);
    const { page } = watched;
    await page.getByText('5,000 in all').waitFor();
    await page.getByText('These are the first 1,000.').waitFor();
    await page.getByRole('button', { name: 'place' }).click();
    await page.getByRole('row', { name: /H4999\s*4,999/ }).waitFor();
    await page.getByLabel('Find').fill('H4242');
    await page.getByRole('row', { name: /H4242\s*4,242/ }).waitFor();
    await expectSound(watched);
    await page.getByLabel('Find').fill('H4');
    await page.getByText('These are the first 100 that were found.').waitFor();
    // As the service answers where an attribute has no index, and there are many more.
    const detail = 'The query takes too long.';
    const problem = { type: 'x', title: 'x', status: 400, code: 'query_too_costly', detail };
    await page.route(/entity-instances\?.*orderBy=place$/, (route) =>
      route.fulfill({ status: 400, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
    );
    await page.getByRole('button', { name: 'place' }).click();
    await page.getByText(detail).waitFor();
    expect(await page.getByRole('row', { name: /H4\d*/ }).count()).toBe(0);
    await expectSound(watched);
  });
});
