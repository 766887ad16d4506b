import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n');

const brokenLinks = (document: string): string[] =>
  [...readFileSync(resolve(root, document), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !existsSync(resolve(root, dirname(document), target)))
    .map((target) => `${document}: ${target}`);

it('links of the documents lead to files that exist', () => {
  expect(documents.flatMap(brokenLinks)).toEqual([]);
});

const SOURCE_FILE =
  /`((?:apps|packages|services|e2e|bench|docs|deploy|examples)\/[\w./-]+\.(?:tsx?|mjs|sol))`/g;

it('source files that the documents name exist', () => {
  const absent = documents.flatMap((document) =>
    [...readFileSync(resolve(root, document), 'utf8').matchAll(SOURCE_FILE)]
      .map(([, file = '']) => file)
      .filter((file) => !existsSync(resolve(root, file)))
      .map((file) => `${document}: ${file}`),
  );
  expect(absent).toEqual([]);
});
