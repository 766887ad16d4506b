import { rm } from 'node:fs/promises';
import { build } from 'esbuild';

/** CommonJS packages ask for Node's own modules by `require`, which an ES module has not. */
const banner = `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`;

/** Bundles programs into a few ES modules in `outdir`. Files are named by their contents: those of earlier builds go first. */
export async function bundleInto(outdir, options) {
  await rm(outdir, { recursive: true, force: true });
  await build({
    outdir,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    banner: { js: banner },
    logLevel: 'warning',
    ...options,
  });
}
