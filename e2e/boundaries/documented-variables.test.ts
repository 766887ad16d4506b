import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const operations = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');

/** The variables that the sources read: members in capitals of an environment's schema. */
function variablesRead(): string[] {
  const files = ['packages', 'services', 'apps'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /^[^/]+\/src\/.*(?<!\.test)\.ts$/.test(file) && !file.startsWith('testing/'))
      .map((file) => readFileSync(join(ROOT, folder, file), 'utf8')),
  );
  const schemas = files.filter((text) => /environment.* = (z\.object\()?\{|Environment = \{/i.test(text));
  return [
    ...new Set(
      schemas.flatMap((text) =>
        [...text.matchAll(/^ {2}([A-Z][A-Z0-9_]{3,}):/gm)].map(([, name = '']) => name),
      ),
    ),
  ];
}

it('documents every variable for operators', () => {
  const read = variablesRead();
  expect(read).toEqual(
    expect.arrayContaining(['DATABASE_URL', 'HEALTH_PORT', 'LOG_LEVEL', 'PORT', 'MEMORY_MIB']),
  );
  expect(read.filter((name) => !operations.includes(`\`${name}\``))).toEqual([]);
});
