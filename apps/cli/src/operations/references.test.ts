import { expect, it } from 'vitest';
import { worldNamed } from './references.js';

it('finds a name however the terminal composes what is typed', () => {
  const address = `0x${'a'.repeat(40)}`;
  expect(worldNamed([{ address, name: 'Caf\u00e9' }], 'Cafe\u0301')).toBe(address);
});
