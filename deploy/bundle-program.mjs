import { rm } from 'node:fs/promises';
import { build } from 'esbuild';

// Bundles the programs of the package in whose folder this runs: `node ../../deploy/bundle-program.mjs [entry …]`.

/** CommonJS packages ask for Node's own modules by `require`, which an ES module has not. */
const banner = `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`;

/**
 * A program in few files: of the time that Node takes to find and load some 1,500 modules, a third remains. What is loaded
 * only when asked for (NATS, Redis, telemetry) stays apart.
 */
const outdir = 'dist/bundle';
// Its files are named by their contents: those of earlier builds would stay.
await rm(outdir, { recursive: true, force: true });

const [, , ...entries] = process.argv;
await build({
  entryPoints: entries.length === 0 ? ['dist/main.js'] : entries,
  outdir,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  banner: { js: banner },
  // The SDK looks for its own files.
  external: ['@opentelemetry/sdk-*', '@opentelemetry/exporter-*', '@opentelemetry/resources'],
  logLevel: 'warning',
});
