import { statSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectSound } from '../src/console/expect-sound.js';
import { describeWithProgram } from '../src/external/describe-with-program.js';
import { type PlayHouse, startPlayHouse } from '../src/play/play-house.js';
import { plant } from '../src/worlds/make-world.js';

/** Bytes that the page may load by itself, compressed with gzip: the promise is 120 kB (ADR 47). */
const FIRST_LOAD = 45_000;

describeWithProgram('chromium', 'the page for players', () => {
  let house: PlayHouse;
  beforeAll(async () => {
    house = await startPlayHouse();
    await plant(house.api, house.world.path, 'guest', 'Ada', { visits: 2 });
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  it('shows a world and what happens in it, and plays in it with a wallet made on the spot', async () => {
    await using watched = await house.open(house.world.address);
    const { page } = watched;
    await page.getByRole('heading', { name: 'House', level: 1 }).waitFor();
    const table = page.getByRole('region', { name: 'Table of guest' });
    await table.getByRole('row', { name: /Ada\s*2/ }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    const event = page.getByRole('group').filter({ hasText: 'enter' }).first();
    await event.getByLabel('name').fill('Grace');
    await event.getByRole('button', { name: 'Play' }).click();
    await event.getByText(/It is moment \d+ of this world/).waitFor();
    await table.getByRole('row', { name: /Grace\s*1/ }).waitFor();
    await page.getByText('Not safe for money.').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'played enter' }).first().waitFor();
    await expectSound(watched);
  });

  it('loads at most 45 kB by itself, and no part that only a click asks for', async () => {
    await using watched = await house.open('');
    const { page } = watched;
    const asked = new Set<string>();
    page.on('request', (request) => void asked.add(new URL(request.url()).pathname));
    await page.goto(`${house.system.url}/play/${house.world.address}`);
    await page.getByRole('button', { name: 'Make one here' }).waitFor();
    const files = [...asked].filter((one) => one.startsWith('/play/assets/'));
    expect(files.filter((one) => one.endsWith('.js')).length).toBeGreaterThan(1);
    expect(files.filter((one) => /decisions|verify-history|sign-transfer|payers/.test(one))).toEqual([]);
    const sizes = ['/play/index.html', ...files].map(
      (file) => statSync(join(repositoryRoot, 'apps/play/dist', `${file.slice('/play/'.length)}.gz`)).size,
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(FIRST_LOAD);
  });

  it('says so where no world is open', async () => {
    await using watched = await house.open(`0x${'0'.repeat(40)}`);
    await watched.page.getByRole('heading', { name: 'No world is open here' }).waitFor();
    await expectSound(watched);
    await watched.page.goto(`${house.system.url}/play`);
    await watched.page.getByLabel('Address of a world').fill(house.world.address);
    await watched.page.getByRole('button', { name: 'Open' }).click();
    await watched.page.getByRole('heading', { name: 'House', level: 1 }).waitFor();
  });
});
