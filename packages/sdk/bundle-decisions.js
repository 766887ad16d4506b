// What decides is published as one file, since the packages that it is made of are not published. It runs in Node and in
// browsers. `node bundle-decisions.js [file]`
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const here = import.meta.dirname;

/** As a namespace zod leaves out what is not used: its translations are 60 kB gzip. */
const zodAsNamespace = {
  name: 'zod-as-namespace',
  setup: ({ onLoad }) =>
    onLoad(
      { filter: /packages[\\/](contracts|expressions|deciding)[\\/]src[\\/].*\.ts$/ },
      async ({ path }) => ({
        loader: 'ts',
        contents: (await readFile(path, 'utf8')).replace(
          "import { z } from 'zod'",
          "import * as z from 'zod'",
        ),
      }),
    ),
};

await build({
  entryPoints: [join(here, 'src/decisions/index.ts')],
  outfile: process.argv[2] ?? join(here, 'dist/decisions/bundle.js'),
  conditions: ['@orrery/source'],
  plugins: [zodAsNamespace],
  bundle: true,
  minify: true,
  sourcemap: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
});
