import { type Caller, occurrenceKey, runtimeContract } from '@orrery/contracts';
import { describeOccurrences, type Sending } from '@orrery/testing';
import { beforeAll } from 'vitest';
import { type House, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
beforeAll(() => house.boot());

type Planted = Awaited<ReturnType<typeof plantDeployment>>;
const planted = new Map<string, Planted>();
const plantedAt = (deployment: string) => planted.get(deployment) as Planted;
const rpcs = runtimeContract.rpcs;
const SCHEDULE: Caller = { kind: 'schedule', event: 'increment' };
const asSchedule = () => ({ caller: SCHEDULE, requestId: 'test', deadline: Date.now() + 20_000 });
const keyOf = ({ deployment, position, attempt = 1 }: Sending) => ({
  scope: 'occurrence' as const,
  key: occurrenceKey({ deployment, event: 'increment', kind: 'due', position, attempt }),
});

describeOccurrences({
  deploy: async () => {
    const one = await plantDeployment(house);
    planted.set(one.deployment.address, one);
    return one.deployment.address;
  },
  execute: (sending) => {
    const { deployment, input = { id: 'a' } } = sending;
    const request = {
      deployment,
      event: 'increment',
      input,
      trigger: 'cron' as const,
      keys: [keyOf(sending)],
    };
    return house.bus.call(rpcs['executions.forService'], request, asSchedule());
  },
  outcomeOf: (sending) =>
    house.bus.call(
      rpcs['executions.outcomeOf'],
      { deployment: sending.deployment, ...keyOf(sending) },
      asSchedule(),
    ),
  acknowledge: (sendings) => {
    const occurrences = sendings.map((sending) => keyOf(sending).key);
    return house.bus.call(rpcs['executions.acknowledge'], { occurrences }, asSchedule());
  },
  pause: (deployment) => house.call('deployments.pause', { params: plantedAt(deployment).params }),
  unbind: (deployment) =>
    house.call('bindings.remove', { params: plantedAt(deployment).params, query: { event: 'increment' } }),
  executions: async (deployment) => (await plantedAt(deployment).history()).length,
});
