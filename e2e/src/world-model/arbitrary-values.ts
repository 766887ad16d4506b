import type { JsonObject, JsonValue } from '@orrery/contracts';
import fc from 'fast-check';

export const SCHEMAS = ['ship', 'port'] as const;
export const EVENTS = ['e0', 'e1', 'e2'] as const;
export const IDS = ['A', 'B', 'x:y'] as const;
export const ATTRIBUTES = ['n', 'f', 's', 'b', 'j'] as const;

/** Values that fit some attributes and break others. */
export const value: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  ...[0, 1, -1, 3, 7, 0.5, Number.MAX_SAFE_INTEGER, 'a', 'b', 'zz', '', true, false, null],
  ...[[], [1], {}, { k: 1 }],
);
export const state: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: fc.dictionary(fc.constantFrom(...ATTRIBUTES, 'extra'), value, { maxKeys: 3 }) },
  {
    weight: 3,
    arbitrary: fc.record(
      { n: fc.constantFrom(0, 1), f: fc.constant(0.5), s: fc.constant('a') },
      { requiredKeys: [] },
    ),
  },
);
