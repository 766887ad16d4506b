import type { Deployment, HistoryEntry } from '@orrery/sdk';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';

describeWithProgram('chromium', 'an example world in the console', () => {
  let house: ConsoleHouse;
  beforeAll(async () => {
    house = await startConsoleHouse();
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  /** Loads an example with a click: the path of its deployment's page, and the deployment itself. */
  async function load(page: Page, name: string): Promise<{ path: string; deployment: Deployment }> {
    const button = page.getByRole('button', { name: `Load ${name}` });
    const more = page.getByText('Load an example world');
    await button.or(more).waitFor();
    if (await more.isVisible()) await more.click();
    await button.click();
    await page.waitForURL(/\/deployments\/0x[0-9a-f]{40}\/live/);
    const [, path = '', world = '', address = ''] =
      /(\/worlds\/(0x\w+)\/deployments\/(0x\w+))/.exec(page.url()) ?? [];
    return {
      path: `${house.system.url}/console${path}`,
      deployment: house.orrery.deployment(world, address),
    };
  }
  const historyOf = async (deployment: Deployment) => {
    const entries: HistoryEntry[] = [];
    for await (const entry of deployment.history()) entries.push(entry);
    return entries;
  };
  const fill = async (page: Page, input: Record<string, string>) => {
    for (const [name, value] of Object.entries(input))
      await page.getByLabel(name, { exact: true }).fill(value);
  };
  const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  const seen = (page: Page, title: string) => page.getByRole('heading', { name: title }).waitFor();
  /** The cells of a row, the first one its heading. */
  const cellsOf = async (page: Page, table: string, row: RegExp) =>
    (
      await page
        .getByRole('table', { name: table })
        .getByRole('row', { name: row })
        .locator('th, td')
        .allTextContents()
    )
      .map((text) => text.trim())
      .join(' | ');
  const waitForRow = (page: Page, table: string, row: RegExp, cells: string) =>
    vi.waitFor(async () => expect(await cellsOf(page, table, row)).toBe(cells));

  describe('whose events are templates', () => {
    it('is made with a click, and an event is tried, then executed', async () => {
      await using watched = await house.open('/');
      const { page } = watched;
      await page.getByText('You have no worlds yet.').waitFor();
      await page.getByRole('button', { name: 'Load Mill Village' }).waitFor();
      await expectSound(watched);
      const { path, deployment } = await load(page, 'Sunday League');

      await page.goto(`${path}/run?event=match_played`);
      await click(page, 'Dry run');
      await page.getByText('Give a value.').first().waitFor();
      await fill(page, { home: 'Oak', away: 'Elm', homeGoals: '2', awayGoals: 'one' });
      await click(page, 'Dry run');
      await page.getByText('Give a whole number.').waitFor();
      await fill(page, { awayGoals: '1' });
      await click(page, 'Dry run');
      await seen(page, 'What would change');
      await waitForRow(page, 'Changes of team:Oak', /^points/, 'points | 0 | 3 +3');
      await waitForRow(page, 'Changes of team:Oak', /^form/, 'form | [] | ["W"]');
      await expectSound(watched);

      await click(page, 'Execute');
      await seen(page, 'What has changed');
      // What was before the entry, not what is now.
      await waitForRow(page, 'Changes of team:Oak', /^points/, 'points | 0 | 3 +3');
      await page.getByText('"Oak 2:1 Elm"').waitFor();
      await page.getByRole('link', { name: 'Entry 6 in the live page' }).waitFor();
      const [entry, ...others] = await historyOf(deployment);
      expect(entry).toMatchObject({ seq: 6, status: 'succeeded', input: { home: 'Oak', awayGoals: 1 } });
      expect(others).toEqual([]);
      await expectSound(watched);
    });

    it('tries another version than the bound one, with what was entered, and executes only that one', async () => {
      await using watched = await house.open('/');
      const { page } = watched;
      const { path } = await load(page, 'Sunday League');
      const [, world = ''] = /worlds\/(0x\w+)/.exec(path) ?? [];
      const of = { worldAddress: world, eventName: 'points_deducted' };
      const versions = '/api/worlds/{worldAddress}/events/{eventName}/event-versions';
      await house.orrery.post(versions, {
        path: of,
        body: {
          inputSchema: { team: 'string', points: 'integer', note: 'string' },
          stateChanges: { team: 'partial' },
          mutationSettings: { mode: 'direct', template: { 'team:{{input.team}}': { points: 77 } } },
        },
      });
      await page.goto(`${path}/run?event=points_deducted`);
      await fill(page, { team: 'Oak', points: '3' });
      await page.getByLabel('Version', { exact: true }).selectOption('2');
      await page.getByLabel('note', { exact: true }).fill('x');
      expect(await page.getByLabel('team', { exact: true }).inputValue()).toBe('Oak');
      expect(await page.getByRole('button', { name: 'Execute' }).isDisabled()).toBe(true);
      await click(page, 'Dry run');
      await page.getByText('Version 2 would do this.').waitFor();
      await waitForRow(page, 'Changes of team:Oak', /^points/, 'points | 0 | 77 +77');
      expect(page.url()).toContain('version=2');
      await expectSound(watched);
      await page.getByLabel('Version', { exact: true }).selectOption('1');
      await page.getByLabel('reason', { exact: true }).waitFor();
      expect(await page.getByRole('button', { name: 'Execute' }).isEnabled()).toBe(true);
    });

    it('says which rule refuses an execution, leads to its entry, and keeps the input as JSON', async () => {
      await using watched = await house.open('/');
      const { page } = watched;
      const { path } = await load(page, 'Sunday League');
      await page.goto(`${path}/run?event=points_deducted`);
      await fill(page, { team: 'Oak', points: '99', reason: 'a late line-up' });
      await click(page, 'Execute');
      await page.getByRole('alert').getByText('invalid_state').waitFor();
      await page.getByRole('link', { name: /^entry \d+$/ }).waitFor();
      await expectSound(watched);
      await page.getByRole('tab', { name: 'JSON' }).click();
      await page.getByText('"a late line-up"').waitFor();
      await expectSound(watched);
      await page.getByRole('tab', { name: 'Form' }).click();
      expect(await page.getByLabel('points').inputValue()).toBe('99');
    });
  });

  describe('whose events a model decides', () => {
    it('shows what the model is asked and proposes, word by word, runs on request, and counts the cost', async () => {
      await using watched = await house.open('/');
      const { page } = watched;
      const { path, deployment } = await load(page, 'Mill Village');

      await page.goto(`${path}/run?event=evening`);
      await fill(page, { guest: 'Ada' });
      const models = page.getByLabel('Model of dry runs');
      await models.locator('option').nth(1).waitFor({ state: 'attached' });
      await models.selectOption({ index: 1 });
      const asked = page.waitForRequest(/execute\?/);
      await click(page, 'Dry run');
      expect((await asked).url()).toMatch(/aiModelId=[\w.%-]+/);
      await seen(page, 'What would change');
      await page.getByText('Mill Village lies at a river').waitFor();
      await page.getByText('Proposal of the model').waitFor();
      await expectSound(watched);
      await click(page, 'Execute');
      await seen(page, 'What has changed');
      await page.getByText('Proposal of the model').waitFor();
      const [entry] = await historyOf(deployment);
      expect(entry).toMatchObject({ event: 'evening', status: 'succeeded', input: { guest: 'Ada' } });

      await page.goto(`${path}/ai`);
      // The legend of the chart has a row of this name too.
      const table = page.getByRole('region', { name: 'Usage by event' });
      const used = table.getByRole('row', { name: /^evening/ });
      await used.waitFor();
      expect(await used.getByRole('cell').allTextContents()).toEqual([
        'evening',
        '$0',
        // A proposal that breaks a rule is asked for once more.
        expect.stringMatching(/^[2-9]$/),
        ...Array(3).fill(expect.anything()),
      ]);
      await page.getByRole('img', { name: /^Requests of models by day and event/ }).waitFor();
      await expectSound(watched);
      await page.getByLabel('Show').selectOption('tokens');
      await page.getByRole('img', { name: /^Tokens of models/ }).waitFor();
      expect(page.url()).toContain('measure=tokens');
    });

    it('has a schedule that begins paused, runs now, goes on, and has a ledger', async () => {
      await using watched = await house.open('/');
      const { page } = watched;
      const { path } = await load(page, 'Mill Village');
      await page.goto(`${path}/schedules`);
      await page.getByText('not while it is paused').waitFor();
      await page
        .getByText('Nothing was due yet.')
        .or(page.getByRole('cell', { name: 'pause' }))
        .first()
        .waitFor();
      await expectSound(watched);
      await click(page, 'Run now: day_passes');
      await page.getByRole('cell', { name: 'run on request' }).waitFor();
      await page.getByRole('cell', { name: 'succeeded' }).first().waitFor();
      await page
        .getByRole('link', { name: /^Entry \d+ in the live page$/ })
        .first()
        .waitFor();
      await click(page, 'Resume: day_passes');
      await page.getByText('Every minute').waitFor();
      await page.getByRole('button', { name: 'Pause: day_passes' }).waitFor();
      await page.getByRole('listitem').getByRole('listitem').nth(4).waitFor();
      await expectSound(watched);
      await click(page, 'Pause: day_passes');
      await page.getByText('not while it is paused').waitFor();
      await page.getByLabel('Show').selectOption('skipped');
      await page.getByText('No due time is skipped.').waitFor();
      expect(page.url()).toContain('status=skipped');
      expect(watched.faults).toEqual([]);
    });
  });
});
