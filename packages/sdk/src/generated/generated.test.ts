import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const document = readFileSync(join(import.meta.dirname, '../../../../openapi.json'), 'utf8');
const sha256 = createHash('sha256').update(document).digest('hex');

it.each(['api.ts', 'operations.ts'])('%s is what openapi.json says', (file) => {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8');
  expect(text.includes(sha256), 'openapi.json has changed: run `npm run types -w @orrery/sdk`').toBe(true);
});
