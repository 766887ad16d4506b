import type { Bus } from '@orrery/bus';
import type { AccountState } from '@orrery/contracts';
import { createLogger, systemClock } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import { followAccounts } from './follow-accounts.js';

const stateOf = (accountId: number): AccountState => ({
  ...{ accountId, disabled: accountId === 2, quotas: {}, revision: 1 },
});

it('stores every state but the one that cannot be stored, and then does what follows from them', async () => {
  const ending = new AbortController();
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
  const stored: number[] = [];
  const bus: Pick<Bus, 'call' | 'consume'> = {
    call: async () => ({ states: [1, 2].map(stateOf) }) as never,
    consume: async () => undefined,
  };
  await new Promise<void>((resolve) => {
    void followAccounts({
      ...{ service: 'test', consumer: 'test-accounts', bus: bus as Bus, clock: systemClock, logger },
      store: async ({ accountId }) => {
        if (accountId === 1)
          throw Object.assign(new Error('integer out of range'), { code: '22003', severity: 'ERROR' });
        stored.push(accountId);
      },
      onStored: async () => resolve(),
      signal: ending.signal,
    });
  });
  ending.abort();
  expect(stored).toEqual([2]);
  expect(lines.join('')).toMatch(/"account":1\b.*cannot be stored/);
});
