import { createOrrery } from '@orrery/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ConsoleHouse } from '../../src/console/console-house.js';
import { startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { confirmInDialog } from '../../src/console/write-editor.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { startSystem } from '../../src/starting/start-system.js';

describeWithProgram('chromium', 'the keys in the console', () => {
  let house: ConsoleHouse;
  beforeAll(async () => {
    house = await startConsoleHouse({}, startSystem);
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  const scopesOf = async (token: string) =>
    (await createOrrery({ url: house.system.url, token }).get('/api/me')).key.scopes;

  it('are created, shown once, replaced and revoked', async () => {
    await using watched = await house.open('/keys');
    const { page } = watched;
    await page.getByText('this session').waitFor();
    await expectSound(watched);
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('dashboard');
    await page.getByLabel('execute').check();
    await expectSound(watched);
    await page.getByRole('button', { name: 'Create' }).click();
    const shown = page.getByRole('dialog', { name: 'The new key' });
    const first = await shown.getByText(/^orrery_\w{61}$/).textContent();
    await expectSound(watched);
    expect(await scopesOf(first ?? '')).toEqual(['read', 'execute']);
    // Nothing but its own button closes what is shown once.
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    expect(await shown.getByRole('button', { name: 'Close' }).count()).toBe(0);
    expect(await shown.getByText(first ?? '').isVisible()).toBe(true);
    await page.getByRole('button', { name: 'I have it' }).click();
    const row = page.getByRole('row', { name: /^dashboard/ });
    await row.getByRole('button', { name: 'Replace' }).click();
    await confirmInDialog(page, 'Replace');
    const second = await shown.getByText(/^orrery_\w{61}$/).textContent();
    await expect(scopesOf(first ?? '')).rejects.toMatchObject({ code: 'unauthorized' });
    await page.getByRole('button', { name: 'I have it' }).click();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await confirmInDialog(page, 'Revoke');
    await row.waitFor({ state: 'detached' });
    await expect(scopesOf(second ?? '')).rejects.toMatchObject({ code: 'unauthorized' });
    expect(watched.faults).toEqual([]);
  });

  it('are not made by a key that may not, and its own revocation ends the session', async () => {
    const { token } = await house.orrery.post('/api/keys', {
      body: { name: 'reader', scopes: ['read', 'keys'] },
    });
    await using watched = await house.open('/keys', { key: token });
    const { page } = watched;
    await page.getByRole('button', { name: 'New key' }).click();
    expect(await page.getByLabel('write').isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await page
      .getByRole('row', { name: /^reader/ })
      .getByRole('button', { name: 'Revoke' })
      .click();
    await page.getByRole('dialog').getByText('the session ends with it').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('You revoked the key of this session.').waitFor();
  });
});
