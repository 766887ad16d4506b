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
/** A value for each attribute that fits whatever its constraints are. */
export const FITTING: Readonly<Record<string, JsonValue>> = { n: 1, f: 0.5, s: 'a', b: true, j: [] };

const fitting = fc.record(
  Object.fromEntries(Object.entries(FITTING).map(([name, one]) => [name, fc.constant(one)])),
);
const anyState = fc.dictionary(fc.constantFrom(...ATTRIBUTES, 'extra'), value, { maxKeys: 3 });
export const state: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 2, arbitrary: fitting },
  { weight: 2, arbitrary: fc.tuple(fitting, anyState).map(([usual, other]) => ({ ...usual, ...other })) },
  { weight: 1, arbitrary: anyState },
);
