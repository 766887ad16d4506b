import { describe, expect, it } from 'vitest';
import { plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
house.catalog.plantVersion({
  event: 'look_up',
  versionId: 90,
  inputSchema: null,
  readEntities: [],
  stateChanges: { counter: 'partial' },
  mutationSettings: {
    mode: 'direct',
    template: { stateChanges: {}, result: { found: '{{ input.map[input.key] }}' } },
  },
});
const bindings = [{ event: 'look_up', eventVersion: 1 }];
/** The reason quotes the first 80 UTF-16 units of it: the last one is half of a character. */
const key = `${'a'.repeat(79)}\u{1f600}bbb`;
const body = { event: 'look_up', input: { map: {}, key } };

describe('a reason that quotes a text', () => {
  it.each([[{}], [{ 'idempotency-key': 'quoted' }], [{ prefer: 'respond-async' }]])(
    'is answered and journalled with the headers %j',
    async (headers) => {
      await using _runtime = await house.boot();
      const { params, history } = await plantDeployment(house, { bindings });
      const execution = house.call('deployments.execute', { params, body, headers });
      if ('prefer' in headers) {
        const { executionId } = (await execution).data as { executionId: string };
        const look = () => house.call('executions.get', { params: { ...params, executionId } });
        await expect.poll(async () => (await look()).data.state).toBe('failed');
      } else expect(await refusalOf(execution)).toMatchObject({ code: 'template_failed' });
      expect(await history()).toMatchObject([{ status: 'failed', error: { code: 'template_failed' } }]);
    },
  );
});
