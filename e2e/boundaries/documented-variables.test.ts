import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT, variablesRead } from './variables-read.js';

const operations = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');

it('documents every variable for operators', () => {
  const read = variablesRead();
  expect(read).toEqual(
    expect.arrayContaining([
      'DATABASE_URL',
      'HEALTH_PORT',
      'LOG_LEVEL',
      'PORT',
      'MEMORY_MIB',
      'MAX_STATE_KIB',
    ]),
  );
  expect(read.filter((name) => !operations.includes(`\`${name}\``))).toEqual([]);
});
