import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { makeWorld } from '../../src/worlds/make-world.js';

describeWithProgram('chromium', 'random numbers in the console', () => {
  let house: ConsoleHouse;
  let path: string;
  let api: ApiClient;
  let seq: number;
  let die: number;
  beforeAll(async () => {
    house = await startConsoleHouse();
    api = apiClient(house.system.url, house.system.key);
    const template = { result: { die: '{{ random.int(1, 6) }}' } };
    const made = await makeWorld(api, {
      name: 'Dice',
      schemas: [],
      events: [{ name: 'roll', firstVersion: { mutationSettings: { mode: 'direct', template } } }],
    });
    ({ path } = await made.deploy({ bindings: [{ event: 'roll', eventVersion: 1 }] }));
    const { data } = (await api.post(`${path}/execute`, { event: 'roll' })).body;
    seq = data.seq;
    die = data.result.die;
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  it('an entry says where they come from, and the page draws them again', async () => {
    await using watched = await house.open(`${path}/live?seq=${seq}`);
    const { page } = watched;
    await page.getByText('from a secret that the journal had committed to').waitFor();
    await page.getByText('The first draws, computed again from the seed').click();
    const cells = page.getByRole('table', { name: 'Draws' }).getByRole('row').nth(1).getByRole('cell');
    await cells.first().waitFor();
    expect(await cells.nth(1).textContent()).toBe(String(die));
    const check = page.getByRole('button', { name: 'Check the seed' });
    await check.click();
    await page.getByText('nothing that follows reveals it').waitFor();
    await api.post(`${path}/randomness/reveal`);
    await check.click();
    await page
      .getByText(`It holds: entry ${seq - 1} had committed to the secret that entry ${seq + 1} reveals`)
      .waitFor();
    await expectSound(watched);
  });
});
