import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type ApiClient, apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { counting, makeWorld } from '../../src/worlds/make-world.js';

const report = {
  inputSchema: { guest: 'string' },
  outputSchema: { headline: 'string' },
  stateChanges: {},
  behaviorPrompt: 'Write a headline about the guest.',
  mutationSettings: { mode: 'ai' },
  executionSettings: {
    visibility: 'cron',
    cron: { schedule: '0 0 1 1 *', input: { guest: 'the new year' } },
  },
};

describeWithProgram('chromium', 'runs of models in the console', () => {
  let house: ConsoleHouse;
  let api: ApiClient;
  let path: string;
  beforeAll(async () => {
    house = await startConsoleHouse();
    api = apiClient(house.system.url, house.system.key);
    const world = await makeWorld(api, {
      name: 'Derby',
      schemas: [counting('horse', 'wins')],
      events: [{ name: 'report', firstVersion: report }],
    });
    ({ path } = await world.deploy());
    for (const guest of ['Ada', 'Bert'])
      await api.post(`${path}/execute`, { event: 'report', input: { guest } });
    await vi.waitFor(async () =>
      expect((await api.post(`${path}/schedules/report/run`)).status).toBeLessThan(300),
    );
    await vi.waitFor(async () =>
      expect((await api.get(`${path}/history`)).body.data[0]).toMatchObject({ seq: 4, trigger: 'cron' }),
    );
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  it('are shown with prompt and answer, whatever started them', async () => {
    await using watched = await house.open(`${path}/live?seq=4`);
    const { page } = watched;
    await page.getByRole('heading', { name: 'Entry 4' }).waitFor();
    await page.getByText('Proposal of the model').waitFor();
    await page.getByText('Write a headline about the guest.').first().waitFor();
    await page
      .getByRole('region', { name: /^Prompt/ })
      .getByText('the new year')
      .first()
      .waitFor();
    await page.getByRole('region', { name: 'Requests to the model' }).getByText('strict').first().waitFor();
    await expectSound(watched);
  });

  it('are listed with what they cost, side by side, and tried again on the last inputs', async () => {
    await using watched = await house.open(`${path}/ai`);
    const { page } = watched;
    const runs = page.getByRole('region', { name: 'Runs of report' });
    await runs.getByText('cron').waitFor();
    await page.getByRole('button', { name: 'Prompt and answer of entry 2' }).click();
    await page.getByRole('dialog').getByText('Proposal of the model').waitFor();
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByLabel('Compare entry 2').check();
    await page.getByLabel('Compare entry 3').check();
    const sides = page.getByRole('region', { name: 'Outcomes side by side' });
    await sides.getByRole('columnheader', { name: 'Entry 3' }).waitFor();
    await sides.getByRole('row', { name: /^result headline/ }).waitFor();
    await expectSound(watched);
    await page.getByRole('link', { name: 'Try the prompt on the last 3 inputs' }).click();
    await page.waitForURL(/what-if\?event=report&from=2/);
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('Models decide 3 executions').waitFor();
    await page.getByRole('button', { name: 'Ask the models' }).click();
    await page.getByRole('region', { name: 'Outcomes by event' }).waitFor();
    expect(watched.faults).toEqual([]);
  });

  it('are sampled: one input several times, side by side', async () => {
    await using watched = await house.open(
      `${path}/run?event=report&input=${encodeURIComponent('{"guest":"Cleo"}')}`,
    );
    const { page } = watched;
    await page.getByLabel('Samples').selectOption('3');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('3 of 3 gave a valid proposal.').waitFor();
    const sides = page.getByRole('region', { name: 'Outcomes side by side' });
    const outcome = sides.getByRole('row', { name: /^outcome/ }).getByRole('cell');
    expect(await outcome.allTextContents()).toEqual(['outcome', '3 of 3', 'valid', 'valid', 'valid']);
    await page.getByText('Prompt and answer of sample 2').click();
    await page.getByText('Proposal of the model').nth(1).waitFor();
    await expectSound(watched);
    expect((await api.get(`${path}/history`)).body.data).toHaveLength(3);
  });
});
