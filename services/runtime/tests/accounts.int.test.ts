import { accountChanged } from '@orrery/contracts';
import { expect, it, vi } from 'vitest';
import { codeOf, type House, OWNER, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
await house.boot();

let revision = 0;
const tell = (news: { disabled?: boolean; quotas?: { deployments?: number } }) => {
  revision += 1;
  const state = { accountId: OWNER, disabled: false, quotas: {}, revision, ...news };
  return house.bus.publish(accountChanged, state, { id: `account ${revision}`, orderingKey: String(OWNER) });
};

it('a disabled account pauses its deployments, and only its being enabled resumes them', async () => {
  const { params, execute, history, verify } = await plantDeployment(house);
  const paused = async () => (await house.call('deployments.get', { params })).data.isPaused;
  await tell({ disabled: true });
  await vi.waitFor(async () => expect(await paused()).toBe(true), { timeout: 10_000 });
  await house.call('deployments.resume', { params });
  expect(await codeOf(execute({ id: 'a' }))).toBe('deployment_paused');
  await tell({ disabled: false });
  await vi.waitFor(async () => expect(await paused()).toBe(false), { timeout: 10_000 });
  await execute({ id: 'a' });
  const kinds = (await history({ include: 'all' })).map(({ kind }) => kind);
  expect(kinds).toEqual(['execution', 'resumed', 'paused', 'deployment_created']);
  expect(await verify()).toMatchObject({ valid: true });
});

it('an account has no more deployments than its quota allows, and one too many locks nothing', async () => {
  await plantDeployment(house);
  await tell({ quotas: { deployments: 0 } });
  const create = () =>
    plantDeployment(house).then(
      () => 'created',
      ({ code }: { code: string }) => code,
    );
  await vi.waitFor(async () => expect(await create()).toBe('quota_exceeded'), { timeout: 10_000 });
  expect(await codeOf(plantDeployment(house, { mode: 'locked' }))).toBe('quota_exceeded');
  expect(house.catalog.calls.lock).toBe(0);
  await tell({});
  await vi.waitFor(async () => expect(await create()).toBe('created'), { timeout: 10_000 });
});
