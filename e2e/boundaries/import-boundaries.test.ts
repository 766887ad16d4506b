import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cyclesIn } from './import-cycles.js';
import { type Import, imports, ROOT, sources } from './source-imports.js';

const SERVICES = ['gateway', 'catalog', 'runtime', 'scheduler', 'chain-pusher'];

/** Which of our packages a folder's sources may import. Tests may also use `testing`. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  'packages/contracts': [],
  'packages/sdk': [],
  'packages/expressions': ['contracts'],
  'packages/service-kit': ['contracts'],
  'packages/database': ['contracts', 'service-kit'],
  'packages/bus': ['contracts', 'service-kit', 'database'],
  'packages/embedded-postgres': ['service-kit'],
  'packages/service-host': ['contracts', 'service-kit', 'database', 'bus'],
  'apps/standalone': ['contracts', 'service-kit', 'bus', 'embedded-postgres', ...SERVICES],
  'apps/cli': ['contracts', 'sdk', 'service-kit', 'database', 'embedded-postgres', ...SERVICES],
  'apps/console': ['sdk'],
  'packages/testing': ['service-kit', 'embedded-postgres'],
  e2e: ['contracts', 'sdk', 'service-kit', 'testing', 'embedded-postgres', 'bus', 'scheduler', 'cli'],
  bench: ['contracts', 'service-kit', 'testing', 'embedded-postgres', 'bus', 'database', ...SERVICES],
  ...Object.fromEntries(
    SERVICES.map((name) => [
      `services/${name}`,
      ['contracts', 'service-kit', 'service-host', 'database', 'bus', 'expressions'],
    ]),
  ),
};

/** Packages that only some rooms may touch: the domain never meets a driver. */
const ONLY_IN: Record<string, readonly string[]> = {
  pg: ['packages/database', 'packages/embedded-postgres'],
  '@nats-io/transport-node': ['packages/bus'],
  '@nats-io/jetstream': ['packages/bus'],
  fastify: ['services/gateway'],
  ioredis: ['services/gateway'],
  '@marcbachmann/cel-js': ['packages/expressions'],
  ajv: ['packages/expressions'],
  re2js: ['packages/expressions'],
  openai: ['services/runtime'],
  undici: ['services/runtime'],
};

/** A file without the lines that are comment only. */
const codeOf = (file: string): string =>
  readFileSync(join(ROOT, file), 'utf8').replace(/^\s*(\*|\/\*|\/\/).*$/gm, '');

const NFC = 'packages/contracts/src/records/nfc.ts';

/** Tools for tests and measurements read the environment and the database as they like. */
const isProduct = (file: string): boolean => !/^(e2e|bench|packages\/testing)\//.test(file);
const isTest = ({ file }: Import): boolean => file.endsWith('.test.ts');

/** Files of a service that put it together. They know every room, and no room knows them. */
const COMPOSITION = /^services\/[^/]+\/src\/(main|index|service|app|context|create-context|handlers)\.ts$/;

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

  it('normalizes texts in one place, which bounds what that costs', () => {
    const wrong = sources.filter(
      (file) => !/\.test\.ts$/.test(file) && file !== NFC && /\.normalize\(/.test(codeOf(file)),
    );
    expect(wrong).toEqual([]);
  });

  it('has no arrow from a package up to a service or an app', () => {
    const upper = new RegExp(`^@orrery/(${[...SERVICES, 'standalone', 'cli'].join('|')})(/|$)`);
    const wrong = imports.filter(
      ({ folder, target }) =>
        /^packages\//.test(folder) && (upper.test(target) || /^(apps|services)\//.test(target)),
    );
    expect(wrong).toEqual([]);
  });

  it('keeps the rooms of a service apart from what puts the service together', () => {
    const wrong = imports.filter((one) => {
      const inRoom = /^services\/[^/]+\/src\/[^/]+\//.test(one.file);
      return inRoom && !isTest(one) && one.path !== undefined && COMPOSITION.test(one.path);
    });
    expect(wrong.map(({ file, path }) => `${file} imports ${path}`)).toEqual([]);
  });

  it('has no cycle of imports that remain at run time', () => {
    expect(cyclesIn(imports.filter(({ typeOnly }) => !typeOnly))).toEqual([]);
  });

  it('has no cycle of more than three files in a service or a package, types included', () => {
    const ofBoth = imports.filter(({ folder }) => /^(services|packages)\//.test(folder));
    expect(cyclesIn(ofBoth).filter((files) => files.length > 3)).toEqual([]);
  });

  it('finds a cycle when there is one', () => {
    const chain = ['a', 'b', 'c', 'a'].map((file, index, all) => ({ file, path: all[index + 1] }));
    expect(cyclesIn([...chain, { file: 'c', path: 'd' }, { file: 'd', path: undefined }])).toEqual([
      ['a', 'b', 'c'],
    ]);
    expect(cyclesIn(chain.slice(0, 2))).toEqual([]);
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
      ({ file, folder, target, typeOnly }) =>
        isProduct(file) && !typeOnly && ONLY_IN[target] && !ONLY_IN[target].includes(folder),
    );
    expect(wrong).toEqual([]);
  });

  it('reads process.env only at the entrances', () => {
    const wrong = sources.filter((file) => {
      if (/\/(main|config|global-setup)\.ts$/.test(file) || file.endsWith('.test.ts')) return false;
      return /process\.env\b/.test(codeOf(file)) && isProduct(file);
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
