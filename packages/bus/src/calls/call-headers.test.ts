import { expect, it } from 'vitest';
import { createReadCallHeaders, writeCallHeaders } from './call-headers.js';

const readCallHeaders = createReadCallHeaders();
const caller = { kind: 'schedule', event: 'Rennen\n🐎' } as const;

it('carries caller and request, and the time that remains, whatever the other clock says', () => {
  const written = writeCallHeaders({ caller, requestId: 'r1', deadline: 10_000 }, 400);
  expect(readCallHeaders(written, 777_000)).toEqual({
    caller,
    requestId: 'r1',
    deadline: 777_400,
    remainingMs: 400,
  });
});

it('refuses a request that says nothing about its caller or deadline', () => {
  expect(() => readCallHeaders({}, 0)).toThrow();
  expect(() => readCallHeaders({ 'orrery-deadline': '1 2' }, 0)).toThrow();
  const anonymous = { 'orrery-caller': '{"kind":"anonymous"}' };
  for (const deadline of ['', '5000', '5000 soon'])
    expect(() => readCallHeaders({ ...anonymous, 'orrery-deadline': deadline }, 0)).toThrow('deadline');
});
