import { ServiceError } from '@orrery/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refuseOutsideWindow, timeOfMessage } from './public-execution.js';

const address = `0x${'ab'.repeat(20)}`;
const at = Date.UTC(2026, 10, 24, 9, 30);
const messageOf = (event: string, time: string | number) => `orrery:${address}:${event}:${time}`;
const timeOf = (message: string, event = 'race') => timeOfMessage(message, { address, event });
const refusal = (act: () => unknown): ServiceError => {
  try {
    act();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('not refused');
};

describe('the time of a message', () => {
  it.each([
    at,
    at / 1000,
    '2026-11-24T09:30:00Z',
    '2026-11-24T09:30:00.000Z',
    '2026-11-24T09:30:00.000000000Z',
    '2026-11-24T11:00:00+01:30',
    '2026-11-23T21:30:00-12:00',
  ])('may be %s', (time) => {
    expect(timeOf(messageOf('race', time))).toBe(at);
  });

  it.each([
    '',
    ' ',
    `${at} `,
    `+${at}`,
    `${at}.0`,
    '176397660000',
    '17639766000000',
    '1.7639766e12',
    '0x19ab6b1d4c0',
    '१७६३९७६६००',
    '2026-11-24',
    '2026-11-24T09:30:00',
    '2026-11-24 09:30:00Z',
    '2026-11-24T09:30:60Z',
    '2026-02-29T09:30:00Z',
    '2026-11-24T24:00:00Z',
    '2026-11-24T09:30:00+24:00',
    `${at}:${at}`,
  ])('is never %j', (time) => {
    const { code, facts } = refusal(() => timeOf(messageOf('race', time)));
    expect([code, facts]).toEqual(['message_mismatch', { expected: messageOf('race', '') }]);
  });

  it('is found behind any name, which belongs to one event alone', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', ':', '0', '1', 'Z', 'T', '-', '.', '🐎'), maxLength: 40 }),
        fc.string({ unit: fc.constantFrom('a', ':', '0', '1', 'Z', 'T', '-', '.', '🐎'), maxLength: 40 }),
        (one, other) => {
          for (const time of [at, at / 1000, '2026-11-24T09:30:00Z']) {
            const message = messageOf(one, time);
            expect(timeOf(message, one)).toBe(at);
            if (one !== other) expect(refusal(() => timeOf(message, other)).code).toBe('message_mismatch');
          }
        },
      ),
    );
  });

  it('is found whichever way the name is composed, and the address is written', () => {
    const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301'];
    expect(timeOf(messageOf(decomposed, at), composed)).toBe(at);
    expect(timeOf(`orrery:0x${'AB'.repeat(20)}:race:${at}`)).toBe(at);
    expect(refusal(() => timeOf(`ORACLE:${address}:race:${at}`)).code).toBe('message_mismatch');
    expect(refusal(() => timeOf(messageOf('Race', at))).code).toBe('message_mismatch');
  });
});

describe('the window of a message', () => {
  const window = { maxAgeMs: 300_000, maxAheadMs: 60_000 };

  it('includes its bounds', () => {
    for (const time of [at - 300_000, at, at + 60_000])
      expect(() => refuseOutsideWindow(time, at, window)).not.toThrow();
    for (const time of [at - 300_001, at + 60_001, 0, 9_999_999_999_999]) {
      const { code, facts } = refusal(() => refuseOutsideWindow(time, at, window));
      expect([code, facts]).toEqual([
        'message_expired',
        { serverTime: '2026-11-24T09:30:00.000Z', ...window },
      ]);
    }
  });
});
