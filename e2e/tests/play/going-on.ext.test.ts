import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { WatchedPage } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { type PlayHouse, startPlayHouse } from '../../src/play/play-house.js';
import { plant } from '../../src/worlds/make-world.js';
import { publicWorld } from '../../src/worlds/public-world.js';

describeWithProgram('chromium', 'the page for players goes on', () => {
  let house: PlayHouse;
  beforeAll(async () => {
    house = await startPlayHouse();
    await plant(house.api, house.world.path, 'guest', 'Ada', { visits: 2 });
    for (let at = 0; at < 15; at += 1) await enter('Bo');
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  const enter = (name: string) =>
    house.api.post(`${house.world.path}/execute`, { event: 'enter', input: { name } });

  const live = ({ page }: WatchedPage) => page.getByText('live', { exact: true }).waitFor();
  const turn = ({ page }: WatchedPage, isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} });
      document.dispatchEvent(new Event('visibilitychange'));`);

  it('after a proxy has answered in place of the server', async () => {
    await using watched = await house.open(house.world.address);
    const { page } = watched;
    await live(watched);
    const refusal = { status: 404, contentType: 'text/html', body: '<h1>Not found</h1>' };
    await page.route('**/app/**', (route) => route.fulfill(refusal));
    await turn(watched, true);
    await page.getByText('resting').waitFor();
    await turn(watched, false);
    await page.getByText(/^reconnecting since .* The answer is HTTP 404/).waitFor();
    await page.getByRole('row', { name: /Ada\s*2/ }).waitFor();
    await expectSound(watched);
    await enter('Back');
    await page.unroute('**/app/**');
    await page.getByRole('row', { name: /Back\s*1/ }).waitFor();
    await live(watched);
  });

  it('after a proxy has answered its first reading with a page of its own', async () => {
    const answered = vi.fn();
    const page = { status: 200, contentType: 'text/html', body: '<h1>Back soon</h1>' };
    await using watched = await house.open(house.world.address, {
      prepare: (context) =>
        context.route('**/app/**', async (route) => {
          await route.fulfill(page);
          answered();
        }),
    });
    await vi.waitFor(() => expect(answered).toHaveBeenCalled());
    await watched.page.context().unroute('**/app/**');
    await live(watched);
  });

  it('while nobody knows what became of a play, also when the world is closed', async () => {
    const { address, path } = await publicWorld(house.api);
    await using watched = await house.open(address);
    const { page } = watched;
    let isLost = true;
    await page.route('**/execute', async (route) => {
      const answer = await route.fetch();
      if (isLost) return route.fulfill({ status: 500, contentType: 'text/plain', body: 'lost' });
      return route.fulfill({ response: answer });
    });
    const card = page.getByRole('group').filter({ hasText: 'enter' }).first();
    await card.getByLabel('name').fill('Held');
    await card.getByRole('button', { name: 'Play' }).click();
    await card.getByText(/Nobody knows whether it took effect/).waitFor();
    await house.api.post(`${path}/unpublish`);
    await page.getByText('This world is not open any more.').waitFor();
    await expectSound(watched);
    isLost = false;
    await card.getByRole('button', { name: 'Ask again' }).click();
    await card.getByText('Done.').waitFor();
  });

  it('at the moment that was chosen while the page came back into sight', async () => {
    await using watched = await house.open(house.world.address);
    const { page } = watched;
    await live(watched);
    // The read of who comes back into sight, and those of the moment.
    const [sight, moment] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let asked = 0;
    await page.route('**/history?*', async (route) => {
      asked += 1;
      await (asked === 1 ? sight : moment).promise;
      await route.continue();
    });
    const nextRead = () => page.waitForRequest((request) => request.url().includes('/history?'));
    await turn(watched, true);
    await page.getByText('resting').waitFor();
    const [newest] = await Promise.all([nextRead(), turn(watched, false)]);
    await Promise.all([
      nextRead(),
      page
        .getByRole('link', { name: /^moment \d+$/ })
        .nth(3)
        .click(),
    ]);
    const came = newest.response();
    sight.resolve();
    await (await came)?.finished();
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    moment.resolve();
    await page.getByText(/^You look at moment/).waitFor();
    await turn(watched, true);
    await turn(watched, false);
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await live(watched);
    await enter('Later');
    await page.getByRole('row', { name: /Later\s*1/ }).waitFor();
  });

  it('with one read and one entry of the browser after many steps of the slider', async () => {
    await using watched = await house.open(house.world.address);
    const { page } = watched;
    await live(watched);
    const last = Number(await page.getByRole('slider').getAttribute('max'));
    const lengthOf = () => page.evaluate<number>('history.length');
    const before = await lengthOf();
    const reads: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.endsWith(house.world.address)) reads.push(request.url());
    });
    const step = `{
      const slider = document.querySelector('input[type=range]');
      slider.focus();
      for (let at = 0; at < 10; at += 1) {
        slider.stepDown();
        for (const type of ['input', 'change']) slider.dispatchEvent(new Event(type, { bubbles: true }));
      }
    }`;
    await page.evaluate(step);
    await page.getByText(`You look at moment ${last - 10} of ${last}`).waitFor();
    expect(reads.filter((url) => !url.includes('/play/'))).toHaveLength(1);
    expect(new URL(page.url()).searchParams.get('seq')).toBe(String(last - 10));
    await page.getByRole('slider').press('ArrowLeft');
    await expect.poll(() => new URL(page.url()).searchParams.get('seq')).toBe(String(last - 11));
    expect(await lengthOf()).toBe(before + 1);
    // On its way to another moment, which who goes back does not want any more.
    await page.getByRole('slider').press('ArrowLeft');
    // A browser's own button passes over what was not added by a person.
    await page.evaluate('history.back()');
    await live(watched);
    await page.getByText('Now, after moment').waitFor();
  });
});
