import { join } from 'node:path';
import { bundleInto } from './bundle-into.mjs';

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

for (const [name, folder] of Object.entries(entries))
  await bundleInto(join(root, 'deploy/dist', name), {
    entryPoints: [join(root, folder, 'dist/main.js')],
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    sourcesContent: false,
    target: 'node24',
    outExtension: { '.js': '.mjs' },
  });
