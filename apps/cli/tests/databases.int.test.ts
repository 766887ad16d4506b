import { Resources } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { expect, it } from 'vitest';
import { prepareTwo, runIn } from './two-databases.js';

it('names a database once: to say so again changes nothing, another name is refused', async () => {
  await using resources = new Resources(PATIENT);
  const { second, env, run } = await prepareTwo(resources);
  await run('npx orrery partitions move 7 --to 2');
  const add = runIn({ ...env, DATABASE_URL: second.url });
  expect(await add('npx orrery databases add 2')).toEqual([
    'the database 2 is in the directory; partitions live in it once they are moved there',
  ]);
  expect(await add('npx orrery databases add 3')).toEqual(['The directory names the database 2 already.']);
  expect(JSON.parse((await run('npx orrery databases list --json')).join())).toMatchObject([
    { name: '1', partitions: 63 },
    { name: '2', partitions: 1 },
  ]);
});
