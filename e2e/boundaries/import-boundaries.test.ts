import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cyclesIn } from './import-cycles.js';
import { type Import, imports, ROOT, sources } from './source-imports.js';

const SERVICES = ['gateway', 'catalog', 'runtime', 'scheduler', 'chain-pusher'];

/** What the folders of ARCHITECTURE.md, "The layers of the tree", may import: a function of what is imported, for each folder. */
const MAY_IMPORT = layersOf(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'));

type MayImport = (imported: string) => boolean;

function layersOf(page: string): ReadonlyMap<string, MayImport> {
  const [, section = ''] = page.split('## The layers of the tree');
  const layers = new Map<string, MayImport>();
  const above: string[] = [];
  for (const [, folders = '', words = ''] of section
    .split('\n\n`')[0]
    ?.matchAll(/^\| (`[^|]*`) \| .* \| ([^|]*) \|$/gm) ?? []) {
    for (const folder of [...folders.matchAll(/`([^`]+)`/g)].map((found) => found[1] ?? '')) {
      const named = folder === 'services/*' ? SERVICES.map((name) => `services/${name}`) : [folder];
      for (const one of named) layers.set(one, readWords(words, [...above]));
      if (folder.startsWith('packages/')) above.push(folder.slice('packages/'.length));
    }
  }
  return layers;
}

/** `contracts, gateway/accounts` and the few phrases that stand for many packages. */
function readWords(words: string, above: readonly string[]): MayImport {
  if (words === 'everything') return () => true;
  const allowed = words.split(/[,;] /).flatMap((phrase) => {
    if (phrase === 'nothing of ours' || phrase === 'never each other') return [];
    if (phrase === 'the packages above') return above;
    if (phrase === 'all services') return SERVICES;
    return phrase === 'migrations of all services' ? SERVICES.map((name) => `${name}/migrations`) : [phrase];
  });
  // A package that is named without a path may be imported by any of its paths.
  return (imported) => allowed.includes(imported) || allowed.includes(imported.replace(/\/.*/, ''));
}

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

const NFC = 'packages/contracts/src/records/fields.ts';

/** Files that parse single texts, what Orrery has written for itself, or what its operator or a chain's node has. */
const OWN_JSON: ReadonlySet<string> = new Set([
  'packages/contracts/src/json/json.ts',
  'packages/deciding/src/answers/read-answer.ts',
  'packages/bus/src/nats/append.ts',
  'packages/bus/src/nats/packs.ts',
  'packages/bus/src/wire/wire-format.ts',
  'packages/service-host/src/settings/chain-file.ts',
  'services/chain-pusher/src/chains/rpc/json-rpc.ts',
  'services/chain-pusher/src/chains/solana/solana-transaction.ts',
  'services/runtime/src/runs/models/model-file.ts',
  'services/runtime/src/runs/payments/payment-config.ts',
]);

/** Tools for tests and measurements read the environment and the database as they like. */
const isProduct = (file: string): boolean => !/^(e2e|bench|packages\/testing)\//.test(file);
const isTestFile = (file: string): boolean => /\.test\.ts$|\.test-support\./.test(file);
const isTest = ({ file }: Import): boolean => file.endsWith('.test.ts');

/** Files of a service that put it together. They know every room, and no room knows them. */
const COMPOSITION = /^services\/[^/]+\/src\/(main|index|service|app|context|create-context|handlers)\.ts$/;

describe('import boundaries', () => {
  it('sees the sources', () => {
    expect(imports.length).toBeGreaterThan(200);
  });

  it('lets each package import only what stands below it; services never import each other', () => {
    const wrong = imports.filter((one) => {
      const ours = one.target.match(/^@orrery\/(.+)/)?.[1];
      if (ours === undefined || (isTest(one) && /^testing(\/|$)/.test(ours))) return false;
      return MAY_IMPORT.get(one.folder)?.(ours) !== true;
    });
    expect(wrong).toEqual([]);
  });

  it('reads what may be imported from the table of ARCHITECTURE.md', () => {
    const may = (folder: string, imported: string) => MAY_IMPORT.get(folder)?.(imported);
    expect([may('packages/bus', 'database'), may('packages/database', 'bus')]).toEqual([true, false]);
    expect([may('apps/cli', 'gateway/accounts'), may('apps/cli', 'gateway/config')]).toEqual([true, false]);
    expect([may('apps/cli', 'catalog/migrations'), may('apps/cli', 'catalog')]).toEqual([true, false]);
    expect([may('services/catalog', 'bus'), may('services/catalog', 'runtime')]).toEqual([true, false]);
    expect(may('packages/contracts', 'bus')).toBe(false);
    expect(may('bench', 'runtime')).toBe(true);
  });

  it('normalizes texts in one place, which bounds what that costs', () => {
    const wrong = sources.filter(
      (file) => !/\.test\.ts$/.test(file) && file !== NFC && /\.normalize\(/.test(codeOf(file)),
    );
    expect(wrong).toEqual([]);
  });

  it('parses JSON of others in one place, which knows a defect of JSON.parse', () => {
    const ours = /^(services|packages\/(bus|contracts|database|deciding|service-host|expressions))\//;
    const wrong = sources.filter(
      (file) =>
        ours.test(file) && !isTestFile(file) && !OWN_JSON.has(file) && /\bJSON\.parse\b/.test(codeOf(file)),
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

  it('has no circle of files, types counted', () => {
    expect(cyclesIn(imports)).toEqual([]);
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
