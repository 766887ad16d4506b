import { expect, it } from 'vitest';
import { uuidV7 } from './uuid-v7.js';

it('has the version, the variant and the time of RFC 9562, and sorts by time', () => {
  const id = uuidV7(0x0123456789ab);
  expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(uuidV7(1) < uuidV7(2)).toBe(true);
  expect(uuidV7(1)).not.toBe(uuidV7(1));
});
