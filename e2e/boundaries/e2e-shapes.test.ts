import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, it } from 'vitest';
import { OF_ONE_SHAPE } from '../src/starting/of-one-shape.js';
import { ROOT } from './source-imports.js';

const START = 'e2e/src/starting/start-system.ts';
const folder = join(ROOT, 'e2e/tests');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.e2e.test.ts'),
);

const importedBy = (file: string): string[] =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(/from '(\.[^']+)\.js'/g)].map(([, target = '']) =>
    posix.join(posix.dirname(file), `${target}.ts`),
  );

/** Whether a file imports the start of systems, itself or through others. */
function canStart(file: string, seen = new Set<string>()): boolean {
  if (file === START) return true;
  if (seen.has(file)) return false;
  seen.add(file);
  return importedBy(file).some((imported) => canStart(imported, seen));
}

const isNamedBy = (pattern: string, name: string): boolean =>
  new RegExp(`^${pattern.replace('*', '[^/]+')}\\.e2e\\.test\\.ts$`).test(name);

it.each(files)('%s runs in each shape, or says why not', (name) => {
  const isLeftOut = Object.keys(OF_ONE_SHAPE).some((pattern) => isNamedBy(pattern, name));
  expect(isLeftOut).toBe(!canStart(`e2e/tests/${name}`));
});

it.each(Object.keys(OF_ONE_SHAPE))('%s is there', (pattern) => {
  expect(files.some((name) => isNamedBy(pattern, name))).toBe(true);
});
