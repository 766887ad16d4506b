import { randomUUID } from 'node:crypto';

/**
 * RFC 9562 version 7: 48 bits of milliseconds since the epoch, the rest random, so that ids sort by time. The random
 * part is that of a version 4, which the runtime makes from entropy in store.
 */
export function uuidV7(now: number): string {
  const time = now.toString(16).padStart(12, '0');
  const random = randomUUID();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text can be compared with a column of type uuid. */
export const isUuid = (text: string): boolean => UUID.test(text);
