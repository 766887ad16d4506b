import type { Deployment, Orrery } from '@orrery/sdk';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type ConsoleHouse, startConsoleHouse, type WatchedPage } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { confirmInDialog } from '../../src/console/write-editor.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { horseSchema, raceResult, training } from '../../src/worlds/racing-world.js';

/** What another client does is seen within this time, in milliseconds. */
const SEEN_WITHIN_MS = 1000;

describeWithProgram('chromium', 'a deployment in the console', () => {
  let house: ConsoleHouse;
  beforeAll(async () => {
    house = await startConsoleHouse();
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  /** A deployment with three horses, which the entries 2 to 4 create. */
  async function plantSeason(orrery: Orrery): Promise<{ season: Deployment; address: string }> {
    const { address: worldAddress } = await orrery.post('/api/worlds', { body: { name: 'Derby' } });
    const path = { worldAddress };
    await orrery.post('/api/worlds/{worldAddress}/entity-schemas', { path, body: horseSchema as never });
    await orrery.post('/api/worlds/{worldAddress}/events', { path, body: raceResult as never });
    const body = { name: 'Season 1', bindings: [{ event: 'race_result', eventVersion: 1 }] };
    const { address } = await orrery.post('/api/worlds/{worldAddress}/deployments', { path, body });
    const instances = '/api/worlds/{worldAddress}/deployments/{address}/entity-instances';
    for (const instanceId of ['ALBA', 'BOLT', 'CRIN'])
      await orrery.post(instances, {
        path: { ...path, address },
        body: { entitySchema: 'horse', instanceId },
      });
    return {
      season: orrery.deployment(worldAddress, address),
      address: `/worlds/${worldAddress}/deployments/${address}`,
    };
  }

  const win = (season: Deployment, winner: string) =>
    season.execute({ event: 'race_result', input: { raceId: 'R', winner } });
  const open = (address: string, search = '') => house.open(`${address}/live${search}`);
  const rowOf = ({ page }: WatchedPage, horse: string) =>
    page.getByRole('region', { name: 'Instances', exact: true }).getByRole('row').filter({ hasText: horse });
  /** The cells of a row after the box for the chart: name, wins, speed, stamina, revision. */
  const cellsOf = (watched: WatchedPage, horse: string) =>
    rowOf(watched, horse)
      .locator('th, td')
      .allInnerTexts()
      .then((texts) => texts.slice(1));
  const waitForCells = (watched: WatchedPage, horse: string, cells: string[]) =>
    vi.waitFor(async () => expect(await cellsOf(watched, horse)).toEqual(cells));
  const slider = ({ page }: WatchedPage) => page.getByRole('slider', { name: 'State after entry' });
  const journal = ({ page }: WatchedPage) => page.getByRole('list', { name: /^Entries/ });

  const endOf = (box: { x: number; width: number } | null) => (box?.x ?? 0) + (box?.width ?? 0);

  it('shows what another client does within a second, in table, journal and entry', async () => {
    const { season, address } = await plantSeason(house.orrery);
    await using watched = await open(address, '?schema=horse');
    await waitForCells(watched, 'BOLT', ['BOLT', '0', '10', '100', '1']);
    await watched.page.getByText('live', { exact: true }).waitFor();
    const delays: number[] = [];
    // The quickest of some: on a busy machine each may be slow for other reasons.
    for (const stamina of ['80', '60', '40', '20']) {
      await win(season, 'BOLT');
      const from = performance.now();
      await rowOf(watched, 'BOLT').getByText(stamina, { exact: true }).waitFor();
      delays.push(performance.now() - from);
    }
    expect(Math.min(...delays)).toBeLessThan(SEEN_WITHIN_MS);
    await journal(watched).getByText('race_result v1').first().waitFor();
    await watched.page.getByRole('heading', { name: 'Entry 8' }).waitFor();
    await watched.page.getByText('BOLT wins R').waitFor();
    await waitForCells(watched, 'BOLT', ['BOLT', '4', '10', '20', '5']);
    await win(season, 'DOUN');
    await waitForCells(watched, 'DOUN', ['DOUN', '1', '10', '80', '1']);
    await expectSound(watched);
  });

  it('shows the state as it was at any entry, holds it in the address, and stays there while others write', async () => {
    const { season, address } = await plantSeason(house.orrery);
    for (let race = 1; race <= 4; race++) await win(season, 'ALBA');
    await using watched = await open(address, '?schema=horse');
    const { page } = watched;
    await waitForCells(watched, 'ALBA', ['ALBA', '4', '10', '20', '5']);
    await slider(watched).focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await waitForCells(watched, 'ALBA', ['ALBA', '2', '10', '60', '3']);
    await page.waitForURL(/seq=6/);
    await win(season, 'ALBA');
    await journal(watched).getByText('#9').waitFor();
    await waitForCells(watched, 'ALBA', ['ALBA', '2', '10', '60', '3']);
    await slider(watched).fill('3');
    await rowOf(watched, 'CRIN').waitFor({ state: 'detached' });
    await page.waitForURL(/seq=3/);
    await page.reload();
    await waitForCells(watched, 'BOLT', ['BOLT', '0', '10', '100', '1']);
    await vi.waitFor(async () => expect(await slider(watched).inputValue()).toBe('3'));
    await page.getByRole('button', { name: 'Back to now' }).click();
    await waitForCells(watched, 'ALBA', ['ALBA', '5', '10', '0', '6']);
    await page.waitForURL((url) => !url.search.includes('seq'));
    expect(watched.faults).toEqual([]);
  });

  it('shows the newest entry where the address or the field names one after the end, and says where the journal ends', async () => {
    const { season, address } = await plantSeason(house.orrery);
    await using watched = await open(address, '?schema=horse&seq=99999');
    const { page } = watched;
    const ends = page.getByText('The journal ends at entry 4: there is no entry 99,999 yet.');
    await ends.waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await waitForCells(watched, 'BOLT', ['BOLT', '0', '10', '100', '1']);
    await page.waitForURL((url) => !url.search.includes('seq'));
    expect(await page.getByRole('alert').count()).toBe(0);
    await win(season, 'BOLT');
    await waitForCells(watched, 'BOLT', ['BOLT', '1', '10', '80', '2']);
    await page.getByRole('button', { name: 'Previous entry' }).click();
    await page.getByText('the past', { exact: true }).waitFor();
    await ends.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Next entry' }).click();
    await page.getByText('newest', { exact: true }).waitFor();
    await page.getByRole('textbox', { name: 'entry' }).fill('999');
    await page.getByRole('textbox', { name: 'entry' }).press('Enter');
    await page.getByText('The journal ends at entry 5: there is no entry 999 yet.').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Fork here' }).click();
    await page.getByRole('dialog', { name: 'Fork after entry 5' }).waitFor();
    expect(watched.faults).toEqual([]);
  });

  it('names what was bound, and offers the events that are bound before the others', async () => {
    const { season, address } = await plantSeason(house.orrery);
    const path = { worldAddress: season.path.worldAddress };
    await house.orrery.post('/api/worlds/{worldAddress}/events', { path, body: training as never });
    await using watched = await open(address);
    const { page } = watched;
    const created = journal(watched).getByRole('button').filter({ hasText: 'Deployment created' });
    await created.getByText('race_result v1').waitFor();
    const groups = page.getByRole('combobox', { name: 'Event' }).locator('optgroup');
    const offered = () =>
      groups.evaluateAll((all) => all.map((one) => [one.getAttribute('label'), one.textContent]));
    const wanted = [
      ['bound', 'race_result'],
      ['not bound now', 'training'],
    ];
    await vi.waitFor(async () => expect(await offered()).toEqual(wanted));
    expect(watched.faults).toEqual([]);
  });

  it('finds the failed execution with its reason, and shows what an entry changed', async () => {
    const { season, address } = await plantSeason(house.orrery);
    for (let race = 1; race <= 5; race++) await win(season, 'ALBA');
    await win(season, 'ALBA').catch(() => undefined);
    await using watched = await open(address, '?entries=failed');
    const { page } = watched;
    await journal(watched)
      .getByText(/invalid_state.*stamina/)
      .click();
    await page.getByRole('heading', { name: 'Entry 10' }).waitFor();
    await page.getByText('It changed no instance.').waitFor();
    await page.getByRole('textbox', { name: 'entry' }).fill('9');
    await page.getByRole('textbox', { name: 'entry' }).press('Enter');
    const change = page.getByRole('region', { name: 'Change of horse:ALBA' });
    await change.getByText('"wins": 4').waitFor();
    await change.getByText('"wins": 5').waitFor();
    await page.getByRole('combobox', { name: 'Entries' }).selectOption('');
    await page.getByRole('button', { name: 'BOLT', exact: true }).click();
    await page.getByText('What changed horse:BOLT').waitFor();
    await journal(watched).getByText('create horse:BOLT').waitFor();
    // The list of all entries has that one, too, until this one takes its place.
    const shown = journal(watched).getByRole('button');
    await vi.waitFor(async () => expect(await shown.count()).toBe(1));
    await page.getByRole('button', { name: 'Show all' }).click();
    await journal(watched).getByText('horse:ALBA · wins 5 · stamina 0').waitFor();
    await expectSound(watched);
  });

  it('creates an instance by hand, and says at the attribute what is wrong with it', async () => {
    const { address } = await plantSeason(house.orrery);
    await using watched = await open(address);
    const { page } = watched;
    await page.getByRole('button', { name: 'New instance' }).click();
    const dialog = page.getByRole('dialog', { name: 'New instance' });
    await dialog.getByLabel('Instance id').fill('DUSK');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Close without saving?' }).waitFor();
    await confirmInDialog(page, 'Stay');
    expect(await dialog.getByLabel('Instance id').inputValue()).toBe('DUSK');
    await dialog.getByLabel('stamina').fill('500');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByLabel('stamina').and(page.locator('[aria-invalid=true]')).waitFor();
    await expectSound(watched);
    await dialog.getByLabel('stamina').fill('70');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    await waitForCells(watched, 'DUSK', ['DUSK', '0', '10', '70', '1']);
    await page.getByRole('button', { name: 'Previous entry' }).click();
    await page.getByRole('button', { name: 'New instance' }).waitFor({ state: 'detached' });
  });

  it('asks for no instance that is not there when an event creates it', async () => {
    const { address } = await plantSeason(house.orrery);
    const input = encodeURIComponent('{"raceId":"R","winner":"DUSK"}');
    await using watched = await house.open(`${address}/run?event=race_result&input=${input}`);
    const { page } = watched;
    const missing: string[] = [];
    page.on('response', (answer) => void (answer.status() === 404 && missing.push(answer.url())));
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('heading', { name: 'What would change' }).waitFor();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.getByRole('heading', { name: 'What has changed' }).waitFor();
    expect(missing).toEqual([]);
    expect(watched.faults).toEqual([]);
  });

  it('has the revision in view, however long the states are', async () => {
    const { season, address } = await plantSeason(house.orrery);
    const path = { worldAddress: season.path.worldAddress };
    const notes = { name: 'notes', type: 'string', defaultValue: 'long '.repeat(40) } as const;
    const body = { name: 'stable', attributes: [notes] };
    await house.orrery.post('/api/worlds/{worldAddress}/entity-schemas', { path, body });
    await house.orrery.post('/api/worlds/{worldAddress}/deployments/{address}/entity-instances', {
      path: season.path,
      body: { entitySchema: 'stable', instanceId: 'EAST_STABLE_OF_THE_COURSE' },
    });
    await using watched = await open(address);
    await rowOf(watched, 'EAST').waitFor();
    const instances = watched.page.getByRole('region', { name: 'Instances', exact: true });
    const last = instances.getByRole('columnheader', { name: 'Revision' });
    expect(endOf(await last.boundingBox())).toBeLessThanOrEqual(endOf(await instances.boundingBox()));
    await expectSound(watched);
  });

  it('draws chosen numbers of ticked instances', async () => {
    const { season, address } = await plantSeason(house.orrery);
    for (const horse of ['ALBA', 'BOLT', 'ALBA']) await win(season, horse);
    await using watched = await open(address, '?schema=horse');
    const { page } = watched;
    for (const horse of ['ALBA', 'BOLT']) await page.getByLabel(`Draw horse:${horse}`).click();
    await page.getByRole('button', { name: 'wins', exact: true }).click();
    const drawn = page.getByRole('img', { name: /horse:ALBA stamina.*horse:BOLT stamina.*over entries/ });
    await drawn.locator('canvas').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'horse:ALBA stamina: 60 now, 3 changes' }).waitFor();
    await win(season, 'ALBA');
    await page.getByRole('listitem').filter({ hasText: 'horse:ALBA stamina: 40 now, 4 changes' }).waitFor();
    await page.waitForURL(/plot=.*of=|of=.*plot=/);
    await page.getByRole('row', { name: /^Entry/ }).waitFor();
    await expectSound(watched);
    for (const name of ['stamina', 'wins'])
      await page.getByRole('button', { name, exact: true, pressed: true }).click();
    await page.getByText('Choose an attribute to draw.').waitFor();
    await page.reload();
    await page.getByText('Choose an attribute to draw.').waitFor();
  });

  it('forks at the entry, and the fork begins with the state of then', async () => {
    const { season, address } = await plantSeason(house.orrery);
    for (let race = 1; race <= 3; race++) await win(season, 'ALBA');
    await using watched = await open(address, '?schema=horse&seq=5');
    const { page } = watched;
    await waitForCells(watched, 'ALBA', ['ALBA', '1', '10', '80', '2']);
    await page.getByRole('button', { name: 'Fork here' }).click();
    const dialog = page.getByRole('dialog', { name: 'Fork after entry 5' });
    await dialog.getByLabel('Name').fill('What if');
    await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.getByRole('heading', { name: 'What if' }).waitFor();
    await page.getByText('fork of entry 5').waitFor();
    await page.getByLabel('Schema').selectOption('horse');
    await waitForCells(watched, 'ALBA', ['ALBA', '1', '10', '80', '1']);
    expect(watched.faults).toEqual([]);
  });

  it('verifies the history in the browser, and says until where it holds', async () => {
    const { season, address } = await plantSeason(house.orrery);
    await win(season, 'ALBA');
    await using watched = await house.open(`${address}/verify`);
    const { page } = watched;
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('All 5 entries hold.').waitFor();
    const { hash } = await season.verifyHistory();
    await page.getByText(hash).waitFor();
    await expectSound(watched);
    // As if the service had changed what it stores.
    await page.route(/\/history\?/, async (route) => {
      const answer = await route.fetch();
      const body = await answer.text();
      await route.fulfill({ response: answer, body: body.replaceAll('"winner":"ALBA"', '"winner":"BOLT"') });
    });
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page.getByText('The history holds until entry 4, and not after it.').waitFor();
    await page.getByRole('link', { name: 'Look at entry 5' }).waitFor();
    expect(watched.faults).toEqual([]);
  });
});
