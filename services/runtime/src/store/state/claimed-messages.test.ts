import { canonicalHash } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { ClaimedMessages } from './claimed-messages.js';

const [a, b] = [canonicalHash('a'), canonicalHash('b')];

describe('ClaimedMessages', () => {
  it('takes a message for new that was signed after the deployment was read and is not among those claimed', () => {
    const messages = new ClaimedMessages();
    messages.add(a, 1500);
    expect(messages.isNew(a, 2000, 1000)).toBe(false);
    expect(messages.isNew(b, 2000, 1000)).toBe(true);
    expect(messages.isNew(b, 1000, 1000)).toBe(false);
  });

  it('forgets the oldest messages, and then takes no message of their time for new', () => {
    const messages = new ClaimedMessages();
    const keys = Array.from({ length: 120_000 }, (_, at) => at.toString(16).padStart(7, '0'));
    const isNew = (key: string, at: number) => messages.isNew(key, at, 0);
    const seemedNew = keys.filter((key, at) => {
      messages.add(key, at);
      return isNew(key, at);
    });
    expect([...seemedNew, ...keys.filter(isNew)]).toEqual([]);
    expect(messages.isNew(b, 50_000, 0)).toBe(false);
    expect(messages.isNew(b, 120_001, 0)).toBe(true);
  });
});
