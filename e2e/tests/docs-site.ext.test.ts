import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@orrery/testing/system';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleHouse, startConsoleHouse, type WatchedPage } from '../src/console/console-house.js';
import { expectSound } from '../src/console/expect-sound.js';
import { openContext, startBrowser } from '../src/external/browse.js';
import { buttonShown } from '../src/external/button-shown.js';
import { describeWithProgram } from '../src/external/describe-with-program.js';

/** Bytes that a page may take with all that it loads, compressed with gzip, without pictures. */
const TRANSFER = 100_000;
const SITE = join(repositoryRoot, 'apps/docs/dist/public');
const gzipped = (file: string): number => statSync(join(SITE, `${file}.gz`)).size;
const urlOf = (file: string): string => `/docs/${file.replace(/\.html$/, '')}`.replace(/\/index$/, '');
const urls = readdirSync(SITE, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.html'))
  .map(urlOf)
  .sort();

describeWithProgram('chromium', 'the pages under /docs', () => {
  let house: ConsoleHouse;
  beforeAll(async () => {
    house = await startConsoleHouse();
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  async function open(path: string): Promise<WatchedPage> {
    const watched = await house.open('/sign-in', { key: null });
    await watched.page.goto(`${house.system.url}${path}`);
    return watched;
  }

  it.each([
    '/docs',
    '/docs/start',
    '/docs/console',
    '/docs/concepts',
    '/docs/sdk',
    '/docs/mistakes',
    '/docs/reference',
    '/docs/reference/execution',
    '/docs/reference/records',
    '/docs/reference/errors',
    '/docs/adr',
  ])('%s is sound: axe, widths, policy', async (path) => {
    await using watched = await open(path);
    await watched.page.getByRole('heading', { level: 1 }).waitFor();
    await expectSound(watched);
  });

  it('fit every width, all of them', async () => {
    await using watched = await open('/docs');
    const { page, faults } = watched;
    const wide: string[] = [];
    for (const url of urls) {
      await page.goto(`${house.system.url}${url}`);
      for (const width of [390, 768, 1280, 1920]) {
        await page.setViewportSize({ width, height: 860 });
        const taken = await page.evaluate('document.documentElement.scrollWidth');
        if (Number(taken) > width) wide.push(`${url} at ${width}: ${taken}`);
      }
    }
    expect(wide).toEqual([]);
    expect(faults).toEqual([]);
    expect(urls.length).toBeGreaterThan(90);
  });

  it('take at most 100 kB each', () => {
    const names = readdirSync(join(SITE, 'assets'));
    const shared = names.filter((name) => /^(page|head|style|mark|chunk)-.*\.(js|css|svg)$/.test(name));
    expect(shared.length).toBeGreaterThanOrEqual(4);
    const loaded = shared.reduce((sum, name) => sum + gzipped(`assets/${name}`), 0);
    const heavy = readdirSync(SITE, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.html') && gzipped(file) + loaded > TRANSFER)
      .map((file) => `${file}: ${gzipped(file) + loaded}`);
    expect(heavy).toEqual([]);
  });

  it('are searched by the keyboard, for pages and operations', async () => {
    await using watched = await open('/docs/concepts');
    const { page, faults } = watched;
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(new URL(request.url()).pathname));
    await page.keyboard.press('/');
    const input = page.getByRole('combobox', { name: 'Search pages and operations' });
    await input.fill('execute an event');
    await page
      .getByRole('option', { name: /^Execute an event/ })
      .first()
      .waitFor();
    expect(asked.filter((path) => path.includes('/assets/search-')).length).toBeGreaterThan(0);
    await expectSound(watched);
    await input.press('Enter');
    await page.waitForURL(/\/docs\/reference\/execution#deploymentsExecute$/);
    await page.keyboard.press('Control+k');
    await input.fill('leaderboard');
    await page
      .getByRole('option', { name: /A leaderboard/ })
      .first()
      .waitFor();
    await input.press('Escape');
    await input.waitFor({ state: 'hidden' });
    expect(faults).toEqual([]);
  });

  it('try a call with the key of the reader, which no store keeps', async () => {
    await using watched = await open('/docs/reference/worlds');
    const { page, faults } = watched;
    const create = page.locator('.operation', { has: page.locator('#worldsCreate') });
    await create.getByRole('button', { name: 'Try it' }).click();
    await create.getByRole('button', { name: 'Send POST' }).click();
    await create.getByText('Give an API key').waitFor();
    await create.getByLabel('API key').fill(house.system.key);
    await create.getByRole('button', { name: 'Send POST' }).click();
    await create.getByText(/^201 .* in \d+ ms$/).waitFor();
    await create.locator('.outcome .body', { hasText: '"name": "Race track"' }).waitFor();
    await create.getByText('Headers', { exact: true }).last().click();
    await create.locator('.outcome', { hasText: 'x-request-id: ' }).waitFor();
    await expectSound(watched);
    const { data: worlds } = await house.orrery.answer('get', '/api/worlds');
    expect(worlds.map(({ name }) => name)).toContain('Race track');
    expect(
      await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'),
    ).not.toContain(house.system.key);
    // Another form of the page has the key already; a body that is none is refused before it is sent.
    const update = page.locator('.operation', { has: page.locator('#worldsUpdate') });
    await update.getByRole('button', { name: 'Try it' }).click();
    await update.getByLabel(/^idOrAddress/).fill(String(worlds[0]?.address));
    await update.getByLabel('Body').fill('{');
    await update.getByRole('button', { name: 'Send PUT' }).click();
    await update.getByText('The body is not valid JSON:').waitFor();
    await update.getByLabel('Body').fill('{ "description": "Tried" }');
    await update.getByRole('button', { name: 'Send PUT' }).click();
    await update.getByText(/^200 .* in \d+ ms$/).waitFor();
    expect(faults).toEqual([]);
  });

  it('remember colours and the kind of example, and copy code', async () => {
    await using watched = await open('/docs/reference/worlds');
    const { page, faults } = watched;
    await page.getByLabel('Colours').selectOption('dark');
    await page.getByRole('button', { name: 'CLI' }).first().click();
    await page.goto(`${house.system.url}/docs/reference/execution`);
    expect(await page.evaluate('getComputedStyle(document.body).colorScheme')).toBe('dark');
    await page.getByText('npx orrery execute $WORLD/$DEPLOYMENT').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const code = page.locator('.sample.cli .code').first();
    await code.hover();
    await Promise.all([buttonShown(page, 'Copied'), code.getByRole('button', { name: 'Copy' }).click()]);
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('npx orrery execute');
    expect(faults).toEqual([]);
  });

  it('lead on from the anchors that /docs had', async () => {
    await using watched = await open('/docs#deploymentsExecute');
    await watched.page.waitForURL(/\/docs\/reference\/execution#deploymentsExecute$/);
    await watched.page.goto(`${house.system.url}/docs#schema-World`);
    await watched.page.waitForURL(/\/docs\/reference\/records#schema-World$/);
  });

  it('have a side bar over the page where it is narrow, which Escape closes', async () => {
    await using watched = await open('/docs/concepts');
    const { page } = watched;
    await page.setViewportSize({ width: 390, height: 860 });
    const bar = page.getByRole('navigation', { name: 'Pages', exact: true });
    expect(await bar.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await bar.getByRole('link', { name: 'Glossary' }).waitFor();
    await expectSound(watched);
    await page.setViewportSize({ width: 390, height: 860 });
    await page.keyboard.press('Escape');
    await bar.waitFor({ state: 'hidden' });
  });

  it('show the error that the server gives', async () => {
    const { url, key } = house.system;
    const answer = await fetch(`${url}/api/worlds`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Derby', tags: [] }),
    });
    await using watched = await open('/docs/reference');
    const shown = await watched.page.locator('#misspelt code').textContent();
    expect({ ...(JSON.parse(shown ?? '') as object), requestId: '' }).toEqual({
      ...((await answer.json()) as object),
      requestId: '',
    });
  });

  describe('without scripts', () => {
    let page: Page;
    let close: () => Promise<void>;
    const faults: string[] = [];
    beforeAll(async () => {
      const browser = await startBrowser();
      const viewport = { width: 390, height: 860 };
      const context = await openContext(browser, { javaScriptEnabled: false, viewport });
      context.on('console', (message) => void faults.push(message.text()));
      page = await context.newPage();
      close = () => browser.close();
    });
    afterAll(() => close?.());

    it('are whole: text, side bar, pages before and after, all examples', async () => {
      await page.goto(`${house.system.url}/docs/reference/execution`);
      for (const text of ['curl -sS', 'orrery.deployment(world, deployment).execute', 'npx orrery execute'])
        expect(await page.locator('main pre', { hasText: text }).first().isVisible()).toBe(true);
      expect(await page.getByRole('button').count()).toBe(0);
      await page.getByRole('link', { name: 'Menu' }).click();
      await page.getByRole('link', { name: 'Timers', exact: true }).click();
      await page.waitForURL(/\/docs\/reference\/timers$/);
      await page.getByRole('link', { name: /^Next/ }).click();
      await page.waitForURL(/\/docs\/reference\/what-if$/);
      expect(faults).toEqual([]);
    });
  });
});
