import { ServiceError } from '@orrery/contracts';
import { FakeClock } from '@orrery/testing';
import { expect, it } from 'vitest';
import type { Homes } from '../../lane/ownership/homes.js';
import { publishedByPlace } from './published-by-place.js';

const record = (address: string) => ({ address, worldAddress: 'w', head: 'h' });
const never = new Promise<never>(() => undefined);

/** Deployments are named after their databases, of which `here` is this process's. */
function ask(deployments: string[], away: readonly string[] = []) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const homes = {
    id: 'here',
    homeOf: (one: string) => (one.startsWith('nowhere') ? never : Promise.resolve(one.split(' ')[0])),
    isAway: (home: string) => away.includes(home),
  } as unknown as Homes;
  const answer = publishedByPlace({ homes, clock }, { deployments }, 200, async (home, request) => {
    asked.push(home);
    if (home === 'slow') return never;
    if (home === 'broken') throw new ServiceError('unavailable');
    const found = request.deployments.map((one) => (one.endsWith('absent') ? null : record(one)));
    return { deployments: found, ...(home === 'moving' && { unasked: [1] }) };
  });
  return { answer, asked, clock };
}

it('answers each place for itself where databases are away, slow or broken, or move a part', async () => {
  const deployments = [
    ...['away', 'here 1', 'slow', 'broken', 'moving 1', 'moving 2', 'here absent', 'nowhere', 'there'],
  ];
  const { answer, asked, clock } = ask(deployments, ['away']);
  await clock.advance(50);
  await clock.advance(150);
  const { deployments: found, unasked } = await answer;
  expect(found.map((one) => one?.address)).toEqual([
    ...[undefined, 'here 1', undefined, undefined, 'moving 1', undefined, undefined, undefined, 'there'],
  ]);
  expect(unasked).toEqual([0, 2, 3, 5, 7]);
  expect(asked.sort()).toEqual(['broken', 'here', 'moving', 'slow', 'there']);
});

it('waits for nothing where all answer', async () => {
  const { answer } = ask(['here 1', 'there absent']);
  expect(await answer).toEqual({ deployments: [record('here 1'), null] });
});
