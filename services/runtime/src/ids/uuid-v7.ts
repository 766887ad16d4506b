import { randomFillSync } from 'node:crypto';

/** RFC 9562 version 7: 48 bits of milliseconds since the epoch, the rest random, so that ids sort by time. */
export function uuidV7(now: number): string {
  const bytes = randomBytes16();
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const randomBytes16 = (): Buffer => randomFillSync(Buffer.allocUnsafe(16));
