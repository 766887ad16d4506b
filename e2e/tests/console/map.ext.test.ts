import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { counting, makeWorld } from '../../src/worlds/make-world.js';

const direct = { mutationSettings: { mode: 'direct', template: {} } };

describeWithProgram('chromium', 'the map of a world', () => {
  let house: ConsoleHouse;
  beforeAll(async () => {
    house = await startConsoleHouse();
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  it('shows what reads, changes and starts what, and leads there', async () => {
    const api = apiClient(house.system.url, house.system.key);
    const { path } = await makeWorld(api, {
      name: 'Derby',
      schemas: [counting('horse', 'wins'), counting('track', 'length')],
      events: [
        {
          name: 'feed',
          firstVersion: {
            ...direct,
            stateChanges: { horse: 'partial' },
            executionSettings: { visibility: 'cron', cron: { schedule: '0 6 * * *' } },
          },
        },
        {
          name: 'race',
          firstVersion: {
            ...direct,
            readEntities: [{ schema: 'track' }],
            stateChanges: { horse: 'partial' },
            followUps: [{ event: 'feed', after: 'PT1H' }],
            executionSettings: { visibility: 'public', priceUsd: 0.5 },
          },
        },
      ],
    });
    await using watched = await house.open(path);
    const { page } = watched;
    await page.getByRole('link', { name: 'Map', exact: true }).click();
    const map = page.getByRole('region', { name: 'The map', exact: true });
    await map.getByRole('link', { name: 'race' }).waitFor();
    await map.getByText('0 6 * * *').waitFor();
    await map.getByText('$0.5').waitFor();
    // Two things start events, one event sets another; one reads, both change.
    expect(await map.locator('svg > path').count()).toBe(6);
    const words = page.getByRole('region', { name: 'Events of the map' });
    await words.getByRole('row', { name: 'race its owner, wallets ($0.5) track horse feed' }).waitFor();
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    await map.getByRole('link', { name: 'track' }).click();
    await page.getByRole('heading', { name: 'track' }).waitFor();
    expect(watched.faults).toEqual([]);
  });
});
