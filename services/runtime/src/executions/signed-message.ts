import { MESSAGE_PREFIX, ServiceError, toNfc } from '@orrery/contracts';
import { z } from 'zod';

/** How far a message's time may lie from the time at which it arrives, in milliseconds. */
export interface MessageWindow {
  readonly maxAgeMs: number;
  readonly maxAheadMs: number;
}

/** `0x` and 40 hex digits. */
const ADDRESS_LENGTH = 42;
const RFC_3339 = z.iso.datetime({ offset: true });

/**
 * The time of a message, in milliseconds since the epoch. The message is `orrery:{deploymentAddress}:{eventName}:` and a
 * timestamp: 13 digits (milliseconds), 10 digits (seconds) or RFC 3339. Names hold colons, so it is never split: it must
 * begin with the expected text. The address counts in any case of letters, the name in NFC.
 *
 * @throws `message_mismatch` with the text to sign, up to the timestamp, in `facts.expected`
 */
export function timeOfMessage(
  message: string,
  { address, event }: { readonly address: string; readonly event: string },
): number {
  const expected = `${MESSAGE_PREFIX}${address}:${event}:`;
  const start = MESSAGE_PREFIX.length + ADDRESS_LENGTH;
  const given = toNfc(message.slice(0, start).toLowerCase() + message.slice(start));
  const time = given.startsWith(expected) ? timeOf(given.slice(expected.length)) : undefined;
  if (time === undefined)
    throw new ServiceError(
      'message_mismatch',
      `Sign the text "${expected}" followed by the current time: milliseconds (13 digits), seconds (10 digits) or RFC 3339.`,
      { facts: { expected } },
    );
  return time;
}

function timeOf(text: string): number | undefined {
  if (/^\d{13}$/.test(text)) return Number(text);
  if (/^\d{10}$/.test(text)) return Number(text) * 1000;
  return RFC_3339.safeParse(text).success ? Date.parse(text) : undefined;
}

/** @throws `message_expired` for a message whose time is too long ago or too far ahead */
export function refuseOutsideWindow(
  time: number,
  now: number,
  { maxAgeMs, maxAheadMs }: MessageWindow,
): void {
  if (now - time <= maxAgeMs && time - now <= maxAheadMs) return;
  throw new ServiceError(
    'message_expired',
    `The message may be at most ${maxAgeMs / 1000} s old and ${maxAheadMs / 1000} s ahead of ${new Date(now).toISOString()}: sign a new one.`,
    { facts: { serverTime: new Date(now).toISOString(), maxAgeMs, maxAheadMs } },
  );
}
