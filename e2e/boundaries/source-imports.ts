import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

/** One import or re-export of a source file. */
export interface Import {
  /** Path from the root of the repository. */
  readonly file: string;
  /** The workspace of the file: `services/catalog`. */
  readonly folder: string;
  /** As written: a relative path, a package, a Node module. */
  readonly target: string;
  /** The imported file's path from the root of the repository, if the import is relative. */
  readonly path: string | undefined;
  /** Erased by the compiler. */
  readonly typeOnly: boolean;
}

const IMPORT = /((?:import|export) type [^;'"]*from|from|import)\s*\(?\s*['"]([^'"]+)['"]/g;

const workspacesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`);

/** All source files of all workspaces, without tests of e2e and bench. */
export const sources: readonly string[] = [
  ...['packages', 'services', 'apps'].flatMap(workspacesIn),
  'e2e',
  'bench',
]
  .map((folder) => `${folder}/src`)
  .filter((folder) => existsSync(join(ROOT, folder)))
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${folder}/${name}`),
  );

export const imports: readonly Import[] = sources.flatMap((file) => {
  const folder = file.slice(0, file.indexOf('/src/'));
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(IMPORT)].map(([, how = '', target = '']) => ({
    file,
    folder,
    target,
    path: target.startsWith('.') ? sourceOf(posix.join(posix.dirname(file), target)) : undefined,
    typeOnly: / type /.test(how),
  }));
});

/** The source of what an import names; it may have JSX. */
function sourceOf(path: string): string {
  const source = path.replace(/\.js$/, '.ts');
  return source.endsWith('.ts') && !existsSync(join(ROOT, source)) ? `${source}x` : source;
}
