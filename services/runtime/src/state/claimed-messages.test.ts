import { describe, expect, it } from 'vitest';
import { ClaimedMessages } from './claimed-messages.js';

describe('ClaimedMessages', () => {
  it('takes a message for new that was signed after the deployment was read and is not among those claimed', () => {
    const messages = new ClaimedMessages(1000);
    messages.add('a', 1500);
    expect(messages.isNew('a', 2000)).toBe(false);
    expect(messages.isNew('b', 2000)).toBe(true);
    expect(messages.isNew('b', 1000)).toBe(false);
  });

  it('forgets the oldest messages, and then takes no message of their time for new', () => {
    const messages = new ClaimedMessages(0);
    for (let at = 1; at <= 20_000; at += 1) {
      messages.add(`m${at}`, at);
      expect(messages.isNew(`m${at}`, at)).toBe(false);
    }
    for (let at = 1; at <= 20_000; at += 1) expect(messages.isNew(`m${at}`, at)).toBe(false);
    expect(messages.isNew('another', 5000)).toBe(false);
    expect(messages.isNew('another', 20_001)).toBe(true);
  });
});
