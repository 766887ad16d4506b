import type { JsonValue } from '@orrery/contracts';

/** UTF-8 bytes of a value's JSON; exact only where they come near the limit. */
export function jsonBytes(value: JsonValue, limit: number): number {
  const text = JSON.stringify(value);
  return text.length * 3 <= limit ? text.length : Buffer.byteLength(text);
}
