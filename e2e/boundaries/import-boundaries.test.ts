import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const SERVICES = ['gateway', 'catalog', 'runtime', 'scheduler', 'chain-pusher'];

/** Which of our packages a folder's sources may import. Tests may also use `testing`. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  'packages/contracts': [],
  'packages/expressions': ['contracts'],
  'packages/service-kit': ['contracts'],
  'packages/database': ['contracts', 'service-kit'],
  'packages/bus': ['contracts', 'service-kit', 'database'],
  'packages/embedded-postgres': ['service-kit'],
  'packages/service-host': ['service-kit', 'database', 'bus'],
  'apps/standalone': ['service-kit', 'bus', 'embedded-postgres', ...SERVICES],
  'apps/cli': ['contracts', 'service-kit', 'gateway', 'embedded-postgres'],
  'packages/testing': ['service-kit', 'embedded-postgres'],
  ...Object.fromEntries(
    SERVICES.map((name) => [
      `services/${name}`,
      ['contracts', 'service-kit', 'service-host', 'database', 'bus', 'expressions'],
    ]),
  ),
};

/** Packages that only some rooms may touch: the domain never meets a driver. */
const ONLY_IN: Record<string, readonly string[]> = {
  pg: ['packages/database', 'packages/embedded-postgres', 'packages/testing'],
  '@nats-io/transport-node': ['packages/bus'],
  '@nats-io/jetstream': ['packages/bus'],
  fastify: ['services/gateway'],
  ioredis: ['services/gateway'],
  '@marcbachmann/cel-js': ['packages/expressions'],
  ajv: ['packages/expressions'],
  re2js: ['packages/expressions'],
};

/** A file without the lines that are comment only. */
const codeOf = (file: string): string =>
  readFileSync(join(ROOT, file), 'utf8').replace(/^\s*(\*|\/\*|\/\/).*$/gm, '');

const IMPORT = /(import type [^;'"]*from|from|import)\s*\(?\s*['"]([^'"]+)['"]/g;

interface Import {
  file: string;
  folder: string;
  target: string;
  /** Gone at run time. */
  typeOnly: boolean;
}

const childrenOf = (folder: string): string[] =>
  readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`);

const sources = [...childrenOf('packages'), ...childrenOf('services'), ...childrenOf('apps')]
  .map((folder) => `${folder}/src`)
  .filter((folder) => existsSync(join(ROOT, folder)))
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  );
const imports: Import[] = sources.flatMap((file) => {
  const folder = file.split('/').slice(0, 2).join('/');
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(IMPORT)].map(([, how = '', target = '']) => ({
    file,
    folder,
    target,
    typeOnly: how.startsWith('import type'),
  }));
});
const isTest = ({ file }: Import): boolean => file.endsWith('.test.ts');

describe('import boundaries', () => {
  it('sees the sources', () => {
    expect(imports.length).toBeGreaterThan(200);
  });

  it('lets each package import only what stands below it; services never import each other', () => {
    const wrong = imports.filter((one) => {
      const ours = one.target.match(/^@orrery\/([^/]+)/)?.[1];
      if (ours === undefined || (isTest(one) && ours === 'testing')) return false;
      return !MAY_IMPORT[one.folder]?.includes(ours);
    });
    expect(wrong).toEqual([]);
  });

  it('keeps relative imports inside their package', () => {
    const wrong = imports.filter(({ file, folder, target }) => {
      if (!target.startsWith('.')) return false;
      return relative(join(ROOT, folder), join(ROOT, file, '..', target)).startsWith('..');
    });
    expect(wrong).toEqual([]);
  });

  it('keeps drivers in their rooms', () => {
    const wrong = imports.filter(
      ({ folder, target, typeOnly }) => !typeOnly && ONLY_IN[target] && !ONLY_IN[target].includes(folder),
    );
    expect(wrong).toEqual([]);
  });

  it('reads process.env only at the entrances', () => {
    const wrong = sources.filter((file) => {
      if (/\/(main|config|global-setup)\.ts$/.test(file) || file.endsWith('.test.ts')) return false;
      return /process\.env\b/.test(codeOf(file)) && !file.startsWith('packages/testing/');
    });
    expect(wrong).toEqual([]);
  });

  it('types no bus subject outside the contract', () => {
    const wrong = sources.filter(
      (file) =>
        !file.startsWith('packages/contracts/') &&
        !file.startsWith('packages/bus/') &&
        /['"`]orrery\.(catalog|runtime|scheduler|facts)/.test(codeOf(file)),
    );
    expect(wrong).toEqual([]);
  });
});
