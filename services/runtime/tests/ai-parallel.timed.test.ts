import { type ModelCall, says, startModelServer } from '@orrery/testing/model-server';
import { expect, it } from 'vitest';
import { judgeVersion } from './fake-catalog.js';
import { modelNamed } from './model-double.js';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
house.catalog.plantVersion({ ...judgeVersion, event: 'judge', versionId: 80 });
house.catalog.plantVersion({
  ...judgeVersion,
  event: 'survey',
  versionId: 81,
  readEntities: [{ schema: 'counter' }],
});

/** Sets the counter that the input names. */
const setsOne = ({ body }: ModelCall) => {
  const [id] = /\bc\d+\b/.exec(body.messages.at(-1)?.content ?? '') ?? [];
  return { stateChanges: { [`counter:${id}`]: { count: 1 } }, result: null };
};

async function plant(latencyMs: number, count: number, maxConcurrency?: number) {
  const server = await startModelServer({ behaves: says(setsOne), latencyMs });
  const model = {
    ...modelNamed('slow', true),
    baseUrl: server.baseUrl,
    ...(maxConcurrency !== undefined && { maxConcurrency }),
  };
  const runtime = await house.boot({ models: [model] });
  const bindings = ['judge', 'survey'].map((event) => ({ event, eventVersion: 1 }));
  const planted = await plantDeployment(house, { bindings });
  const ids = Array.from({ length: count }, (_, index) => `c${index}`);
  await Promise.all(ids.map((id) => planted.createCounter(id)));
  const executeAll = async (event: string) => {
    const began = performance.now();
    const body = (id: string) => ({ event, input: { id } });
    const { params } = planted;
    const execution = (id: string) =>
      house.call('deployments.execute', { params, body: body(id) }, { patience: 120_000 });
    await Promise.all(ids.map(execution));
    const ms = performance.now() - began;
    process.stdout.write(`${count} × ${event}: ${Math.round(ms)} ms, ${server.calls.length} requests\n`);
    return ms;
  };
  const release = async () => {
    await runtime[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  return { ...planted, server, executeAll, [Symbol.asyncDispose]: release };
}

it('100 executions that touch different instances take as long as the bound of their model allows', async () => {
  await using planted = await plant(2000, 100, 50);
  const ms = await planted.executeAll('judge');
  expect(planted.server.mostAtOnce).toBe(50);
  expect(planted.server.calls).toHaveLength(100);
  expect(await planted.verify()).toMatchObject({ valid: true });
  expect(await planted.history({ status: 'succeeded', limit: '100' })).toHaveLength(100);
  // Two rounds of the model; the rest holds on a busy machine too.
  expect(ms).toBeLessThan(4000 + 4000);
});

it('20 executions that all read every instance succeed with two decisions each at most', async () => {
  await using planted = await plant(200, 20);
  await planted.executeAll('survey');
  const entries = await planted.history({ status: 'succeeded', limit: '100' });
  expect(entries).toHaveLength(20);
  for (const { llm } of entries) {
    const { earlier = [] } = llm as { earlier?: unknown[] };
    expect(earlier.length).toBeLessThanOrEqual(1);
  }
  expect(planted.server.calls.length).toBeLessThanOrEqual(40);
  expect(await planted.verify()).toMatchObject({ valid: true });
});
