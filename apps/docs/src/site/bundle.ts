import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import type { Assets } from '../layout/frame.js';
import { namedByContent } from './make-site.js';

export interface Bundled {
  readonly assets: Omit<Assets, 'search'>;
  /** By their paths below the folder of the site. */
  readonly files: ReadonlyMap<string, string | Buffer>;
}

/** Scripts, styles and the icon. @param source the folder `src` of this package */
export async function bundle(source: string): Promise<Bundled> {
  const browser = join(source, 'browser');
  const [page, head, style, icon] = await Promise.all([
    bundled({ entryPoints: [join(browser, 'page.ts')], format: 'esm', splitting: true }),
    bundled({ entryPoints: [join(browser, 'head.ts')], format: 'iife' }),
    bundled({ entryPoints: [join(source, 'style/style.css')] }),
    readFile(join(source, 'mark.svg')),
  ]);
  const iconFile = namedByContent('mark.svg', icon);
  const addressOf = (files: ReadonlyMap<string, unknown>, name: string) =>
    `/docs/${[...files.keys()].find((file) => basename(file).startsWith(name)) ?? ''}`;
  return {
    assets: {
      script: addressOf(page, 'page-'),
      head: addressOf(head, 'head-'),
      style: addressOf(style, 'style-'),
      icon: `/docs/${iconFile}`,
    },
    files: new Map<string, string | Buffer>([...page, ...head, ...style, [iconFile, icon]]),
  };
}

async function bundled(options: object): Promise<Map<string, string>> {
  const { outputFiles } = await build({
    bundle: true,
    minify: true,
    write: false,
    outdir: '/assets',
    // `light-dark()` of the style sheet is in these and in what came after.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    ...options,
  });
  return new Map(outputFiles.map(({ path, text }) => [`assets/${basename(path)}`, text]));
}
