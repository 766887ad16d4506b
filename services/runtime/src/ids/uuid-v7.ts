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
