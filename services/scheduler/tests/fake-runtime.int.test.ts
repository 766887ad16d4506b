import { occurrenceKey } from '@orrery/contracts';
import { describeOccurrences, type Sending } from '@orrery/testing';
import { createFakeRuntime } from './fake-runtime.js';

const fake = createFakeRuntime(() => Date.UTC(2030, 0, 1));
const call = { caller: { kind: 'schedule', event: 'train' } } as never;
const keyOf = ({ deployment, position, attempt = 1 }: Sending) => ({
  scope: 'occurrence' as const,
  key: occurrenceKey({ deployment, event: 'train', kind: 'due', position, attempt }),
});

describeOccurrences({
  deploy: async () => fake.deploy({ train: fake.version('train', 1, { schedule: '* * * * *' }) }),
  execute: (sending) => {
    const { deployment, input = { id: 'a' } } = sending;
    const request = { deployment, event: 'train', input, trigger: 'cron' as const, keys: [keyOf(sending)] };
    return fake.runtime['executions.forService']({ ...request, expected: null }, call);
  },
  outcomeOf: (sending) =>
    fake.runtime['executions.outcomeOf']({ deployment: sending.deployment, ...keyOf(sending) }, call),
  acknowledge: (sendings) => {
    const occurrences = sendings.map((sending) => keyOf(sending).key);
    return fake.runtime['executions.acknowledge']({ occurrences }, call);
  },
  pause: async (deployment) => fake.pause(deployment),
  unbind: async (deployment) => fake.unbind(deployment, 'train'),
  executions: async (of) => fake.executed.filter(({ deployment }) => deployment === of).length,
});
