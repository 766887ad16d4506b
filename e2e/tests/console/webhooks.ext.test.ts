import { Resources } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { makeCertificate, startWebhookReceiver, type WebhookReceiver } from '@orrery/testing/servers';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { confirmInDialog } from '../../src/console/write-editor.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { racingWorld } from '../../src/worlds/racing-world.js';

describeWithProgram('chromium', 'webhooks in the console', () => {
  const resources = new Resources(PATIENT);
  let house: ConsoleHouse;
  let receiver: WebhookReceiver;
  let path: string;
  let race: () => Promise<unknown>;
  beforeAll(async () => {
    const files = await makeCertificate(resources);
    receiver = await startWebhookReceiver(resources, files);
    const env = { NODE_EXTRA_CA_CERTS: files.certificate, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
    house = await startConsoleHouse(env);
    const api = apiClient(house.system.url, house.system.key);
    const made = await racingWorld(api);
    path = made.deployment;
    const input = { raceId: 'R1', winner: 'HORSE_1' };
    race = () => api.post(`${path}/execute`, { event: 'race_result', input });
  });
  afterAll(async () => {
    await house?.[Symbol.asyncDispose]();
    await resources.release();
  });

  it('are made, shown with what was sent to them, sent again, and removed', async () => {
    await using watched = await house.open(`${path}/settings`);
    const { page } = watched;
    await page.getByText('No webhook is set up.').waitFor();
    await page.getByRole('button', { name: 'New webhook' }).click();
    const form = page.getByRole('dialog', { name: 'New webhook' });
    await form.getByLabel('Address').fill('http://127.0.0.1/');
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByText('An address that begins with https:// is required.').first().waitFor();
    await expectSound(watched);
    await form.getByLabel('Address').fill(`${receiver.url}/races`);
    await form.getByLabel('race_result').check();
    await form.getByRole('button', { name: 'Create' }).click();
    const shown = page.getByRole('dialog', { name: 'The secret of the webhook' });
    const first = (await shown.locator('code').textContent()) ?? '';
    expect(first).toMatch(/^whsec_/);
    await expectSound(watched);
    // Nothing but its own button closes what is shown once.
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    expect(await shown.getByRole('button', { name: 'Close' }).count()).toBe(0);
    expect(await shown.getByText(first).isVisible()).toBe(true);
    await shown.getByRole('button', { name: 'I have it' }).click();
    await page.getByText('all executions of race_result').waitFor();

    const replace = async () => {
      await page.getByRole('button', { name: 'New secret' }).click();
      const question = page.getByRole('dialog', { name: 'Replace the secret?' });
      await question.getByRole('button', { name: 'Replace' }).click();
      return question;
    };
    await replace();
    await shown.getByRole('button', { name: 'I have it' }).click();
    const question = await replace();
    await question
      .getByText(/two secrets until/)
      .first()
      .waitFor();
    await question.getByLabel('At once').check();
    await question.getByRole('button', { name: 'Replace' }).click();
    await shown.waitFor();
    const secret = (await shown.locator('code').textContent()) ?? '';
    await shown.getByRole('button', { name: 'I have it' }).click();

    await race();
    await vi.waitFor(() => expect(receiver.deliveries).toHaveLength(1));
    const [{ body, headers } = { body: '', headers: {} }] = receiver.deliveries;
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
      event: 'race_result',
    });
    await page.getByRole('button', { name: 'Deliveries' }).click();
    const list = page.getByRole('dialog', { name: /^Deliveries to/ });
    await list.getByText('delivered').first().waitFor();
    await expectSound(watched);
    await list.getByRole('button', { name: 'Send again: delivery 1' }).click();
    await list.getByRole('button', { name: 'Send a test' }).click();
    await vi.waitFor(() => expect(receiver.deliveries).toHaveLength(3));
    await page.keyboard.press('Escape');

    receiver.behave(() => 500);
    await race();
    await page.getByText('retrying').waitFor();
    await page.getByText('It answered 500.').waitFor();
    receiver.behave(() => 200);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('active', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await confirmInDialog(page, 'Remove');
    await page.getByText('No webhook is set up.').waitFor();
    await expectSound(watched);
  });
});
