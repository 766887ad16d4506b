import { canonicalHash } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { ClaimedMessages } from './deployment-state.js';

const [a, b] = [canonicalHash('a'), canonicalHash('b')];

describe('ClaimedMessages', () => {
  it('takes a message for new that was signed after the deployment was read and is not among those claimed', () => {
    const messages = new ClaimedMessages(1000);
    messages.add(a, 1500);
    expect(messages.isNew(a, 2000)).toBe(false);
    expect(messages.isNew(b, 2000)).toBe(true);
    expect(messages.isNew(b, 1000)).toBe(false);
  });

  it('forgets the oldest messages, and then takes no message of their time for new', () => {
    const messages = new ClaimedMessages(0);
    const keys = Array.from({ length: 20_000 }, (_, at) => canonicalHash(at));
    for (const [at, key] of keys.entries()) {
      messages.add(key, at);
      expect(messages.isNew(key, at)).toBe(false);
    }
    for (const [at, key] of keys.entries()) expect(messages.isNew(key, at)).toBe(false);
    expect(messages.isNew(b, 5000)).toBe(false);
    expect(messages.isNew(b, 20_001)).toBe(true);
  });
});
