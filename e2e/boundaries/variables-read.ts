import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

/** The variables that sources below these folders read: members in capitals of an environment's schema. */
export function variablesRead(folders: readonly string[] = ['packages', 'services', 'apps']): string[] {
  const schemas = folders.flatMap(sourcesIn).filter((text) => SCHEMA.test(text));
  return [...new Set(schemas.flatMap((text) => [...text.matchAll(MEMBER)].map(([, name = '']) => name)))];
}

const SCHEMA = /environment.* = (z\.object\()?\{|Environment = \{/i;
const MEMBER = /^ {2}([A-Z][A-Z0-9_]{3,}):/gm;

const sourcesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    .filter(
      (file) => /\/src\/.*(?<!\.test)\.ts$/.test(file) && !/node_modules|packages\/testing\//.test(file),
    )
    .map((file) => readFileSync(join(ROOT, file), 'utf8'));
