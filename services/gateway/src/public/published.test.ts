import { runtimeContract, type ServiceError } from '@orrery/contracts';
import { systemClock } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import { createFindPublished } from './published.js';

const address = `0x${'a'.repeat(40)}`;
const published = { address, worldAddress: `0x${'b'.repeat(40)}`, head: '' };

it('asks for addresses and ids alone, so that no text of one reader fails the call of all', async () => {
  const asked: string[] = [];
  const { request: schema } = runtimeContract.rpcs['deployments.published'];
  const call = async (_rpc: unknown, request: unknown) => {
    const { deployments } = schema.parse(request);
    asked.push(...deployments);
    return { deployments: deployments.map((one) => (one === address ? published : null)) };
  };
  const find = createFindPublished({ call: call as never }, systemClock);
  const odd = ['x'.repeat(65), '\u0000', '', '0x1', `${address}a`];
  const answers = await Promise.allSettled([...odd.map(find), find(address), find('12')]);
  expect(
    answers.map((one) => (one.status === 'rejected' ? (one.reason as ServiceError).code : one.value)),
  ).toEqual([...odd.map(() => 'deployment_not_found'), published, 'deployment_not_found']);
  expect(asked).toEqual([address, '12']);
});
