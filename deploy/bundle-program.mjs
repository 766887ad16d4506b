import { bundleInto } from './bundle-into.mjs';

// Bundles the programs of the package in whose folder this runs: `node ../../deploy/bundle-program.mjs [entry …]`. Of the
// time that Node takes to find and load some 1,500 modules, a third remains. What is loaded only when asked for (NATS,
// Redis, telemetry) stays apart.

const [, , ...entries] = process.argv;
await bundleInto('dist/bundle', {
  entryPoints: entries.length === 0 ? ['dist/main.js'] : entries,
  target: 'node24',
  // The SDK looks for its own files.
  external: ['@opentelemetry/sdk-*', '@opentelemetry/exporter-*', '@opentelemetry/resources'],
});
