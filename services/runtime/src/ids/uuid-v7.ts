import { randomUUID } from 'node:crypto';

/**
 * RFC 9562 version 7: 48 bits of milliseconds since the epoch, the rest random, so that ids sort by time. The random
 * part is that of a version 4, which the runtime makes from entropy in store.
 */
export function uuidV7(now: number): string {
  const high = Math.floor(now / 0x10000);
  return `${hex16(high >>> 16)}${hex16(high)}-${hex16(now % 0x10000)}-7${randomUUID().slice(15)}`;
}

/** `toString(16)` of a number beyond 31 bits takes microseconds. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** The lowest 16 bits as four digits. */
const hex16 = (number: number): string => `${HEX[(number >>> 8) & 255]}${HEX[number & 255]}`;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text can be compared with a column of type uuid. */
export const isUuid = (text: string): boolean => UUID.test(text);
