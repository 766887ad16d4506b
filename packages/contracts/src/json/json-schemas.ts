import { z } from 'zod';
import type { JsonObject, JsonValue } from './json-value.js';

/**
 * Any JSON. The guard at the entrance (`findUnsafeJson`) has walked it already, so these do not walk it again.
 */
export const jsonValue = z
  .any()
  .meta({ id: 'JsonValue', description: 'Any JSON value, at most 32 levels deep.' }) as unknown as z.ZodType<
  JsonValue,
  JsonValue
>;

export const jsonObject = z
  .record(z.string(), z.any())
  .meta({ id: 'JsonObject', description: 'A JSON object, at most 32 levels deep.' }) as unknown as z.ZodType<
  JsonObject,
  JsonObject
>;
