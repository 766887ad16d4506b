import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

it('costs a page at most 15 kB', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'index.ts')],
    // Loaded by who verifies.
    external: ['@orrery/sdk/verification', '@orrery/sdk/decisions'],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  });
  const [bundle] = outputFiles;
  expect(gzipSync(bundle?.contents ?? '').length).toBeLessThanOrEqual(15_000);
});

it('costs a page that checks decisions 190 kB more, and takes nothing of Node', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-decisions-'));
  try {
    const file = join(folder, 'bundle.js');
    execFileSync(process.execPath, [join(import.meta.dirname, '../bundle-decisions.js'), file]);
    const bundle = readFileSync(file, 'utf8');
    expect(gzipSync(bundle).length).toBeLessThanOrEqual(190_000);
    expect(bundle).not.toMatch(/(from|import)\s*\(?["'](node:|crypto)/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
