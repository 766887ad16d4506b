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

/** Answers once so many have come, and then again. */
function answersTogether(most: number): ReturnType<typeof says> {
  const answer = says(setsOne);
  const waiting: (() => void)[] = [];
  return async (call) => {
    const all = new Promise<void>((resolve) => waiting.push(resolve));
    if (waiting.length === most) for (const go of waiting.splice(0)) go();
    await all;
    return answer(call);
  };
}

async function plant(served: Parameters<typeof startModelServer>[0], count: number, maxConcurrency?: number) {
  const server = await startModelServer(served);
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
  };
  const release = async () => {
    await runtime[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  return { ...planted, server, executeAll, [Symbol.asyncDispose]: release };
}

it('100 executions that touch different instances are asked about at once, as many as their model allows', async () => {
  await using planted = await plant({ behaves: answersTogether(50) }, 100, 50);
  await planted.executeAll('judge');
  expect(planted.server.mostAtOnce).toBe(50);
  expect(planted.server.calls).toHaveLength(100);
  expect(await planted.verify()).toMatchObject({ valid: true });
  expect(await planted.history({ status: 'succeeded', limit: '100' })).toHaveLength(100);
});

it('20 executions that all read every instance succeed with two decisions each at most', async () => {
  await using planted = await plant({ behaves: says(setsOne), latencyMs: 200 }, 20);
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
