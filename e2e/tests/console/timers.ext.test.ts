import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { makeWorld } from '../../src/worlds/make-world.js';

const step = (name: string, followUps: object[] = []) => ({
  name,
  firstVersion: {
    mutationSettings: { mode: 'direct', template: { result: { done: true } } },
    ...(followUps.length > 0 && { followUps }),
  },
});

describeWithProgram('chromium', 'timers in the console', () => {
  let house: ConsoleHouse;
  let path: string;
  let seq: number;
  beforeAll(async () => {
    house = await startConsoleHouse();
    const api = apiClient(house.system.url, house.system.key);
    const made = await makeWorld(api, {
      name: 'Steps',
      schemas: [],
      events: [
        step('first', [{ event: 'second' }, { event: 'late', after: 'PT1H', key: 'the-late-one' }]),
        step('second', [{ event: 'third' }]),
        step('third'),
        step('late'),
      ],
    });
    const bindings = ['first', 'second', 'third', 'late'].map((event) => ({ event, eventVersion: 1 }));
    ({ path } = await made.deploy({ bindings }));
    seq = (await api.post(`${path}/execute`, { event: 'first' })).body.data.seq;
    await vi.waitFor(async () => {
      const { body } = await api.get(`${path}/history?trigger=timer`);
      expect(body.data).toHaveLength(2);
    });
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  it('an entry shows what it led to as a tree, and what it goes back to', async () => {
    await using watched = await house.open(`${path}/live?seq=${seq}`);
    const { page } = watched;
    const tree = page.getByRole('list', { name: 'Consequences', exact: true });
    await tree.getByText('third').waitFor();
    const text = (await tree.textContent()) ?? '';
    expect(text).toMatch(/second.*succeeded.*third.*succeeded.*late, due .*the-late-one/);
    await expectSound(watched);
    await page.goto(page.url().replace(`seq=${seq}`, `seq=${seq + 1}`));
    await page.getByText('Set by entry').waitFor();
  });

  it('what is to come is listed with what set it, and can be cancelled', async () => {
    await using watched = await house.open(`${path}/schedules`);
    const { page } = watched;
    await page.getByText('the-late-one').waitFor();
    const setBy = page.getByRole('link', { name: `Entry ${seq} in the live page` });
    expect(await setBy.textContent()).toBe(String(seq));
    await expectSound(watched);
    await page.getByRole('button', { name: 'Cancel: late' }).click();
    await page.getByText('Nothing is set for later.').waitFor();
  });
});
