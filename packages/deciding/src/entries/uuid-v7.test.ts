import { expect, it } from 'vitest';
import { isUuid, uuidV7 } from './entry.js';

it('has the version, the variant and the time of RFC 9562, and sorts by time', () => {
  const id = uuidV7(0x0123456789ab);
  expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(uuidV7(1) < uuidV7(2)).toBe(true);
  expect(uuidV7(1)).not.toBe(uuidV7(1));
});

it('knows what PostgreSQL takes for a uuid', () => {
  expect(isUuid('0199A1B2-c3d4-7e5f-8a6b-7c8d9e0f1a2b')).toBe(true);
  expect(isUuid('0199a1b2c3d47e5f8a6b7c8d9e0f1a2b')).toBe(false);
});
