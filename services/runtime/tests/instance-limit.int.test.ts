import { expect, it } from 'vitest';
import { createDeciderDouble } from './decider-double.js';
import { codeOf, type House, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
const decider = createDeciderDouble();
await house.boot({ limits: { instancesPerDeployment: 2 }, decider: decider.decider });

it('bounds the instances that executions, answers of a decider and manual writes create', async () => {
  house.catalog.plantVersion({
    event: 'judge',
    versionId: 90,
    inputSchema: {},
    behaviorPrompt: 'Judge.',
    stateChanges: { counter: 'partial' },
  });
  const bindings = ['increment', 'judge'].map((event) => ({ event, eventVersion: 1 }));
  const { execute, createCounter, history, verify, params } = await plantDeployment(house, { bindings });
  await createCounter('a');
  await execute({ id: 'b' });
  expect(await codeOf(execute({ id: 'c' }))).toBe('limit_reached');
  const judged = codeOf(execute({}, {}, 'judge'));
  (await decider.called()).answer({ 'counter:d': { count: 1 } });
  expect(await judged).toBe('limit_reached');
  expect(await codeOf(createCounter('e'))).toBe('limit_reached');
  const refused = { status: 'failed', error: { code: 'limit_reached' }, changes: [] };
  expect(await history()).toMatchObject([refused, refused, { status: 'succeeded' }]);
  await execute({ id: 'a' });
  await house.call('instances.delete', { params: { ...params, instanceId: 'b' } });
  await execute({ id: 'c' });
  expect(await verify()).toMatchObject({ valid: true });
});
