import { expect, it } from 'vitest';
import { isFullDisk } from './keep-running.js';

it.each([
  ['code 1 after: FATAL: could not write lock file "postmaster.pid": No space left on device', true],
  ['ENOSPC: no space left on device, write', true],
  ['code 1 after: FATAL: could not open file "global/pg_control"', false],
])('knows a full disk by what PostgreSQL or Node says: %s', (reason, isFull) => {
  expect(isFullDisk(reason)).toBe(isFull);
});
