import { expect, it } from 'vitest';
import { movableClock } from './movable-clock.js';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const clock = await movableClock(house.databaseUrl);
await house.boot();

it('the head before a time is told ten seconds after it by the clock of the database, and no entry comes before it then', async () => {
  const { deployment, execute, history } = await plantDeployment(house);
  await execute({ id: 'q' });
  const before = new Date(Date.now() + 2000).toISOString();
  const ask = async () => {
    const request = { deployment: deployment.address, from: 2, before };
    return (await house.ask('journal.headBefore', request)).head;
  };
  await clock.set(7000);
  // Another deployment of the same process shows that it knows the time of the database: past the one that is asked for.
  const other = await plantDeployment(house);
  await expect
    .poll(async () => {
      await other.execute({ id: 'q' });
      return ((await other.history())[0]?.executedAt ?? '') >= before;
    })
    .toBe(true);
  expect(await ask()).toBeNull();
  await clock.set(13_000);
  await expect.poll(ask).toMatchObject({ generation: 1, size: 2 });
  await execute({ id: 'q' });
  const [last] = await history();
  expect([last?.seq, (last?.executedAt ?? '') >= before]).toEqual([3, true]);
  expect(await ask()).toMatchObject({ size: 2 });
});
