import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

it('costs a page at most 15 kB', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'index.ts')],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  });
  const [bundle] = outputFiles;
  expect(gzipSync(bundle?.contents ?? '').length).toBeLessThanOrEqual(15_000);
});
