import { type CallContext, ServiceError } from '@orrery/contracts';
import { expect, it } from 'vitest';
import type { Homes } from './homes.js';
import { whereItLives } from './route-to-home.js';

const call = {} as CallContext;
const ask = (home: string | undefined, answers: (string | ServiceError)[]) => {
  const homes = { id: 'first', homeInTheEnd: async () => home, call: async () => 'from the other one' };
  const here = async () => {
    const answer = answers.shift();
    if (answer instanceof ServiceError) throw answer;
    return answer;
  };
  const asked = { name: 'deployments.get', reference: '7', here };
  return whereItLives(homes as unknown as Homes, asked, {} as never, call);
};
const absent = () => new ServiceError('deployment_not_found');

it('passes a call on where the deployment has moved', async () => {
  expect(await ask('second', [absent()])).toBe('from the other one');
});

it('looks again for a deployment that was on its way and is back', async () => {
  expect(await ask('first', [absent(), 'from here'])).toBe('from here');
});

it('says that a deployment is absent that was not found twice, or that nobody knows', async () => {
  await expect(ask('first', [absent(), absent(), 'too late'])).rejects.toThrow(absent());
  await expect(ask(undefined, [absent(), 'from here'])).rejects.toThrow(absent());
});
