import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

// Each service, and the command `orrery`, in a few files without node_modules: all that its image needs beside Node.

const root = join(import.meta.dirname, '..');
const entries = {
  gateway: 'services/gateway',
  catalog: 'services/catalog',
  runtime: 'services/runtime',
  scheduler: 'services/scheduler',
  'chain-pusher': 'services/chain-pusher',
  orrery: 'apps/cli',
};

/** CommonJS packages ask for Node's own modules by `require`, which an ES module has not. */
const js = `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`;

for (const [name, folder] of Object.entries(entries)) {
  const outdir = join(root, 'deploy/dist', name);
  await rm(outdir, { recursive: true, force: true });
  await build({
    entryPoints: [join(root, folder, 'dist/main.js')],
    outdir,
    bundle: true,
    splitting: true,
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    sourcesContent: false,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    outExtension: { '.js': '.mjs' },
    banner: { js },
    logLevel: 'warning',
  });
}
