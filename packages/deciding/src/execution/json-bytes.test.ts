import type { JsonValue } from '@orrery/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonBytes } from './check-changes.js';

const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\u0007', 'é', '\u2028', '🐎', '\ud800') });
/** Nothing but what JSON writes at its longest. */
const longest = fc.oneof(
  fc.string({ unit: fc.constantFrom('\u0007', '\ud800'), minLength: 40, maxLength: 80 }),
  fc.array(fc.constant(-1.2345678901234567e-308), { minLength: 10 }),
  fc.array(fc.constantFrom('', {}, []), { minLength: 10 }),
);

test('a value is within a limit exactly when its JSON is, and what is too large is told exactly', () => {
  const json = fc.oneof(fc.jsonValue(), longest, fc.dictionary(text, text)) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(json, fc.nat(12), (value, above) => {
      const bytes = Buffer.byteLength(JSON.stringify(value));
      for (const limit of [bytes, bytes - 1, bytes + above, bytes * 7]) {
        const counted = jsonBytes(value, limit);
        expect(counted <= limit).toBe(bytes <= limit);
        if (counted > limit) expect(counted).toBe(bytes);
      }
    }),
    { numRuns: 300 },
  );
});
