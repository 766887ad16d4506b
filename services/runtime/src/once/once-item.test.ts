import { ServiceError } from '@orrery/contracts';
import { describe, expect, it, vi } from 'vitest';
import type { WorkItem } from '../state/work-item.js';
import { onceItem } from './once-item.js';
import type { UsedKey } from './once-store.js';

const state = {} as never;
const expired = () => {
  throw new ServiceError('message_expired');
};
const use = (changes: Partial<UsedKey> = {}): UsedKey => ({
  scope: 'message',
  key: 'k',
  request_hash: 'same',
  deployment_id: 1,
  run_id: null,
  reply: { reply: 'the first answer' },
  ...changes,
});

function itemFor(used: UsedKey | undefined) {
  const prepare = vi.fn();
  const item = {
    prepare,
    decide: () => ({ kind: 'answer', answer: 'decided' }),
  } as unknown as WorkItem<string>;
  const once = {
    keys: [{ scope: 'message' as const, key: 'k' }],
    requestHash: 'same',
    refuseNew: expired,
  };
  return { prepare, item: onceItem(async () => used, item, once) };
}

describe('an item with once-keys', () => {
  it('gives a repetition the stored answer, whatever a new request would be refused for', async () => {
    const { item, prepare } = itemFor(use());
    await item.prepare(state);
    expect(item.decide(state, {} as never, 0)).toEqual({ kind: 'answer', answer: 'the first answer' });
    expect(prepare).not.toHaveBeenCalled();
  });

  it('refuses a new request before anything of it is prepared', async () => {
    const { item, prepare } = itemFor(undefined);
    await expect(item.prepare(state)).rejects.toMatchObject({ code: 'message_expired' });
    expect(prepare).not.toHaveBeenCalled();
  });

  it('refuses a key of another request as used', async () => {
    const { item } = itemFor(use({ request_hash: 'other' }));
    await expect(item.prepare(state)).rejects.toMatchObject({ code: 'message_already_used' });
  });
});
