import { StartupError } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import { withFullDisk } from './full-disk.js';

it.each([
  Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
  new StartupError('PostgreSQL cannot be reached (53100): start it.'),
  new StartupError('cp: error writing a file: No space left on device\ncp: error writing another one'),
  new StartupError('the migration failed', { cause: Object.assign(new Error('full'), { code: '53100' }) }),
])('a start on a full disk says so in one sentence: %s', (error) => {
  const told = withFullDisk(error, '/data');
  expect(told).toBeInstanceOf(StartupError);
  expect((told as Error).message).toMatch(/^There is no space left on the disk of \/data: .*\.$/);
});

it.each([new StartupError('Port 3000 is in use.'), new Error('a defect'), undefined])(
  'other errors stay as they are: %s',
  (error) => {
    expect(withFullDisk(error, '/data')).toBe(error);
  },
);
