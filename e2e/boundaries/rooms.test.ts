import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { imports as allImports, ROOT, sources } from './source-imports.js';

/** A workspace's table of rooms in ARCHITECTURE.md, from the top row to the bottom row. */
interface Plan {
  /** Path from the root of the repository: `services/catalog`. */
  readonly workspace: string;
  /** Folders or files below `src`, as in the table: `store/journal`, `port.ts`. */
  readonly rooms: readonly string[];
}

const PLANS: readonly Plan[] = plansOf(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'));

function plansOf(page: string): readonly Plan[] {
  const [, section = ''] = page.split('\n## The rooms\n');
  const [tables = ''] = section.split('\n## ');
  return tables
    .split('\n### ')
    .slice(1)
    .map((table) => ({
      workspace: /^`([^`]+)`/.exec(table)?.[1] ?? '',
      rooms: [...table.matchAll(/^\| `([\w./-]+)` \|/gm)].map(([, room = '']) => room),
    }));
}

/** Tests and what only tests import. */
const isTest = (file: string): boolean => /\.test\.tsx?$|\.test-support\./.test(file);
const imports = allImports.filter(({ file, path }) => path !== undefined && !isTest(file));

const below = (workspace: string) => imports.filter(({ file }) => file.startsWith(`${workspace}/src/`));
const inSource = (path: string): string => path.slice(path.indexOf('/src/') + '/src/'.length);

/** The room of a file: the row that names it or the closest folder around it. Files that put a workspace together have none. */
function roomOf({ rooms }: Plan, path: string): string | undefined {
  const file = inSource(path);
  const around = rooms.filter((room) => file === room || file.startsWith(`${room}/`));
  return around.sort((a, b) => b.length - a.length)[0];
}

const names = (file: string, path: string | undefined): string => `${file} → ${path}`;

/** Pairs of folders that import each other, with one import of each direction. */
function twoWayPairs(workspace: string): string[] {
  const seen = new Map<string, string>();
  for (const { file, path = '' } of below(workspace))
    seen.set(`${dirname(file)} ${dirname(path)}`, names(file, path));
  return [...seen].flatMap(([pair, forth]) => {
    const [a = '', b = ''] = pair.split(' ');
    const back = seen.get(`${b} ${a}`);
    return a < b && back !== undefined ? [`${forth}, ${back}`] : [];
  });
}

const EXPORTED_FUNCTION =
  /^export (?:async )?function\*? (\w+)|^export const (\w+)[^=\n]*= (?:async )?(?:\([^)]*\)|\w+)[^=\n]*=>/gm;

/** Functions that `core` exports and that no unit test beside it names. */
function untestedIn(workspace: string): string[] {
  const ofCore = sources.filter((file) => file.startsWith(`${workspace}/src/core/`));
  const texts = (files: readonly string[]) => files.map((file) => readFileSync(join(ROOT, file), 'utf8'));
  const tests = texts(ofCore.filter(isTest)).join('\n');
  return ofCore
    .filter((file) => !isTest(file))
    .flatMap((file) => {
      const [text = ''] = texts([file]);
      const exported = [...text.matchAll(EXPORTED_FUNCTION)].map(([, named, bound]) => named ?? bound ?? '');
      return exported
        .filter((name) => !new RegExp(`\\b${name}\\b`).test(tests))
        .map((name) => `${file}: ${name}`);
    });
}

/** A clock, or anything outside of the process. `node:http` and `node:net` have types and rules of addresses too. */
const OUTSIDE =
  /^(kysely|pg|@orrery\/(database|bus|service-host)|node:(fs|timers|child_process|worker_threads)(\/.*)?)$/;
const CLOCK = /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bMath\.random\(/;

/** Where the core of a workspace is not pure. */
function impureIn(workspace: string): string[] {
  const ofCore = (file: string) => file.startsWith(`${workspace}/src/core/`) && !isTest(file);
  const reading = sources.filter(
    (file) => ofCore(file) && CLOCK.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  const outside = allImports.filter(({ file, target }) => ofCore(file) && OUTSIDE.test(target));
  return [...reading, ...outside.map(({ file, target }) => names(file, target))];
}

describe.each(PLANS)('the rooms of $workspace', (plan) => {
  const ranks = new Map(plan.rooms.map((room, at) => [room, at]));

  it('are all in its table, each with files', () => {
    const files = sources.filter((file) => file.startsWith(`${plan.workspace}/src/`) && !isTest(file));
    const homeless = files.filter((file) => inSource(file).includes('/') && !roomOf(plan, file));
    expect(homeless).toEqual([]);
    const used = new Set(files.map((file) => roomOf(plan, file)));
    expect(plan.rooms.filter((room) => !used.has(room))).toEqual([]);
  });

  it('import only rooms below them', () => {
    const rank = (path: string): number => ranks.get(roomOf(plan, path) ?? '') ?? -1;
    const upwards = below(plan.workspace).filter(({ file, path = '' }) => rank(path) < rank(file));
    expect(upwards.map(({ file, path }) => names(file, path))).toEqual([]);
  });

  it('are at most seven on a storey', () => {
    const onStorey = (storey: string) => plan.rooms.filter((room) => room.startsWith(`${storey}/`));
    expect(plan.rooms.filter((room) => onStorey(room.split('/')[0] ?? '').length > 7)).toEqual([]);
  });

  it('have folders that import each other in one direction only, types counted', () => {
    expect(twoWayPairs(plan.workspace)).toEqual([]);
  });

  it('have a core without clock and I/O', () => {
    expect(impureIn(plan.workspace)).toEqual([]);
  });

  it('have SQL in the store alone', () => {
    const isElsewhere = (file: string) =>
      /^services\/[^/]+\/src\/[^/]+\//.test(file) && !file.includes('/src/store/') && !isTest(file);
    const queries = allImports.filter(({ file, target }) => isElsewhere(file) && target === 'kysely');
    expect(
      queries.filter(({ file }) => file.startsWith(`${plan.workspace}/`)).map(({ file }) => file),
    ).toEqual([]);
  });

  it('have a unit test for each function that the core exports', () => {
    expect(untestedIn(plan.workspace)).toEqual([]);
  });
});

it('every workspace whose sources lie in folders has a table', () => {
  const inFolders = sources.filter((file) => inSource(file).includes('/') && !isTest(file));
  const workspaces = new Set(inFolders.map((file) => file.slice(0, file.indexOf('/src/'))));
  expect([...workspaces].sort()).toEqual(PLANS.map((plan) => plan.workspace).sort());
});
