import { expect, it } from 'vitest';
import { refuseOtherRevision } from './instance-store.js';

it.each([undefined, '*', ' * ', '"3"', 'W/"3"', '3', '"2", "3"'])('If-Match %j fits revision 3', (given) => {
  expect(() => refuseOtherRevision(given, 3)).not.toThrow();
});

it.each(['"2"', 'W/"33"', '', '"2", "4"'])('If-Match %j does not fit revision 3', (given) => {
  expect(() => refuseOtherRevision(given, 3)).toThrow(expect.objectContaining({ code: 'revision_mismatch' }));
});
