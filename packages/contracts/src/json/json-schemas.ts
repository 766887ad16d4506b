import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from './json.js';

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

/** A map of at most `most` keys, which are counted before they and their values are read. */
export const boundedMap = <Value extends z.ZodType>(value: Value, most: number) =>
  z.preprocess(
    (map, context) => {
      if (!isJsonObject(map) || Object.keys(map).length <= most) return map;
      context.addIssue({ code: 'custom', message: `An object of at most ${most} keys is allowed here.` });
      return z.NEVER;
    },
    z.record(z.string(), value),
  );
