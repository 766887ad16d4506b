import type { JsonObject } from '@orrery/contracts';

/** Roughly how many bytes a state takes. Cheap on purpose: texts and lists count by length, everything else by the piece. */
export function roughSize(state: JsonObject): number {
  let size = 0;
  for (const value of Object.values(state)) {
    size += 40 + (typeof value === 'string' ? 2 * value.length : 0);
    if (typeof value === 'object' && value !== null) size += 2 * JSON.stringify(value).length;
  }
  return size;
}
