import { runtimeContract, type ServiceError } from '@orrery/contracts';
import { systemClock } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import { createFindPublished } from './published.js';

const address = `0x${'a'.repeat(40)}`;
const away = `0x${'d'.repeat(40)}`;
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

const codeOf = (answer: Promise<unknown>) => answer.catch(({ code }: ServiceError) => code);

it('refuses those alone whose database has not answered, after it was asked for longer', async () => {
  const asked: (readonly [deployments: readonly string[], withinMs: number])[] = [];
  const call = async (_rpc: unknown, request: { deployments: string[]; withinMs: number }) => {
    asked.push([request.deployments, request.withinMs]);
    const { deployments } = request;
    return {
      deployments: deployments.map((one) => (one === address ? published : null)),
      unasked: deployments.includes(away) ? [deployments.indexOf(away)] : undefined,
    };
  };
  const find = createFindPublished({ call: call as never }, systemClock);
  expect(await Promise.all([away, address, '12'].map((one) => codeOf(find(one))))).toEqual([
    'unavailable',
    published,
    'deployment_not_found',
  ]);
  expect(asked).toEqual([
    [[away, address, '12'], 250],
    [[away], 4000],
  ]);
});

it('keeps nobody waiting for a call that is slow', async () => {
  const slow = Promise.withResolvers<void>();
  const call = async (_rpc: unknown, { deployments }: { deployments: string[] }) => {
    if (deployments.includes(away)) await slow.promise;
    return { deployments: deployments.map(() => published) };
  };
  const find = createFindPublished({ call: call as never }, systemClock);
  const first = find(away);
  await new Promise(setImmediate);
  expect(await find(address)).toBe(published);
  slow.resolve();
  expect(await first).toBe(published);
});
