import type { Bus } from '@orrery/bus';
import type { AccountState } from '@orrery/contracts';
import { createLogger, systemClock } from '@orrery/service-kit';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type FollowAccountsOptions, followAccounts } from './follow-accounts.js';

const stateOf = (accountId: number): AccountState => ({
  ...{ accountId, disabled: accountId === 2, quotas: {}, revision: 1 },
});

/** Follows a gateway that has these accounts, until all have been read once. @returns what was logged, and how to publish a state */
async function followed(
  accounts: readonly AccountState[],
  { onStored, ...options }: Pick<FollowAccountsOptions, 'store' | 'passOn' | 'onStored'>,
) {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
  let publish: (state: AccountState) => Promise<void> = async () => undefined;
  const bus = {
    call: async (_: unknown, { afterId, limit }: { afterId: number; limit: number }) => ({
      states: accounts.filter(({ accountId }) => accountId > afterId).slice(0, limit),
    }),
    consume: async (_: unknown, { handle }: { handle: typeof publish }) => {
      publish = handle;
    },
  };
  await new Promise<void>((resolve) => {
    void followAccounts({
      ...{
        service: 'test',
        consumer: 'test-accounts',
        bus: bus as unknown as Bus,
        clock: systemClock,
        logger,
      },
      ...options,
      onStored: async (signal) => {
        await onStored?.(signal);
        resolve();
      },
      signal: ending.signal,
    });
  });
  return { logged: lines.join(''), publish: (state: AccountState) => publish(state) };
}

it('stores every state but the one that cannot be stored, and then does what follows from them', async () => {
  const stored: number[] = [];
  const { logged } = await followed([1, 2, 3, 4, 5].map(stateOf), {
    store: async (states) => {
      const ids = states.map(({ accountId }) => accountId);
      if (ids.includes(2))
        throw Object.assign(new Error('integer out of range'), { code: '22003', severity: 'ERROR' });
      stored.push(...ids);
    },
  });
  expect(stored).toEqual([1, 3, 4, 5]);
  expect(logged.match(/"account":\d+\b.*cannot be stored/g)).toEqual([
    expect.stringContaining('"account":2'),
  ]);
});

it('stores what it reads by the thousand, and passes on only what was published', async () => {
  const store = vi.fn(async () => undefined);
  const passOn = vi.fn(async () => undefined);
  const accounts = Array.from({ length: 2500 }, (_, at) => stateOf(at + 1));
  const { publish } = await followed(accounts, { store, passOn });
  expect(store.mock.calls).toEqual([
    [accounts.slice(0, 1000)],
    [accounts.slice(1000, 2000)],
    [accounts.slice(2000)],
  ]);
  expect(passOn).not.toHaveBeenCalled();
  const state = { ...stateOf(7), revision: 2 };
  await publish(state);
  expect(store).toHaveBeenLastCalledWith([state]);
  expect(passOn.mock.calls).toEqual([[state]]);
});
