import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { counting, makeWorld } from '../../src/worlds/make-world.js';

const daily = {
  name: 'daily',
  firstVersion: {
    mutationSettings: { mode: 'direct', template: { result: { done: true } } },
    executionSettings: { visibility: 'cron', cron: { schedule: '0 8 * * *' } },
  },
};

describeWithProgram('chromium', 'a change of the console whose answer got lost', () => {
  let house: ConsoleHouse;
  let api: ApiClient;
  let path: string;
  beforeAll(async () => {
    house = await startConsoleHouse();
    api = apiClient(house.system.url, house.system.key);
    const made = await makeWorld(api, {
      name: 'Derby',
      schemas: [counting('horse', 'wins')],
      events: [daily],
    });
    ({ path } = await made.deploy());
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  /** The first answer to a POST is replaced, after its change was made, by one that says that nobody knows. */
  async function loseAnswer(page: Page, address: string): Promise<void> {
    let isLost = false;
    await page.route(
      ({ pathname }) => pathname.endsWith(address),
      async (route) => {
        if (isLost || route.request().method() !== 'POST') return route.fallback();
        isLost = true;
        await route.fetch();
        await route.fulfill({
          status: 503,
          contentType: 'application/problem+json',
          // Later than the SDK repeats anything.
          headers: { 'retry-after': '60' },
          json: { code: 'unavailable', detail: 'The answer got lost.', facts: { outcome: 'unknown' } },
        });
      },
    );
  }
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  it('runs a schedule once, however often it is asked to', async () => {
    await using watched = await house.open(`${path}/schedules`);
    const { page } = watched;
    await loseAnswer(page, '/schedules/daily/run');
    await button(page, 'Run now: daily').click();
    await page.getByText('It is not known whether it was run').waitFor();
    await page.getByRole('cell', { name: 'run on request' }).waitFor();
    const occurrences = async () =>
      (await api.get(`${path}/schedules/daily/occurrences`)).body.data.filter(
        ({ kind }: { kind: string }) => kind === 'manual',
      );
    const [first] = await occurrences();
    await button(page, 'Run now: daily').click();
    await page.getByText('It is not known').waitFor({ state: 'detached' });
    expect(await occurrences()).toEqual([expect.objectContaining({ id: first.id })]);
    // The next one is another.
    await button(page, 'Run now: daily').click();
    await expect.poll(async () => (await occurrences()).length).toBe(2);
  });

  it('makes one world', async () => {
    await using watched = await house.open('/');
    const { page } = watched;
    await loseAnswer(page, '/api/worlds');
    await button(page, 'New world').click();
    await page.getByLabel('Name').fill('Only one');
    await button(page, 'Create').click();
    await page.getByText('It is not known whether the world was saved').waitFor();
    await button(page, 'Create').click();
    await page.getByRole('heading', { name: 'Only one', level: 1 }).waitFor();
    const { body } = await api.get('/worlds');
    expect(body.data.filter(({ name }: { name: string }) => name === 'Only one')).toHaveLength(1);
  });

  it('makes one instance, and says of a webhook that it may be there', async () => {
    await using watched = await house.open(`${path}/live`);
    const { page } = watched;
    await loseAnswer(page, '/entity-instances');
    await button(page, 'New instance').click();
    await page.getByLabel('Instance id').fill('A');
    await button(page, 'Create').click();
    await page.getByText('It is not known whether the instance was created').waitFor();
    await button(page, 'Create').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto(`${house.system.url}/console${path}/settings`);
    await loseAnswer(page, '/webhooks');
    await button(page, 'New webhook').click();
    await page.getByRole('dialog').getByLabel('Address').fill('https://example.com/races');
    await button(page, 'Create').click();
    await page.getByText('It is not known whether a webhook was made').waitFor();
  });
});
