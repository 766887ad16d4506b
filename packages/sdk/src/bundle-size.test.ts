import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

/** Bytes of a page's bundle of these parts of the SDK, gzip. What else it loads on demand is not counted. */
async function sizeOf(...parts: readonly string[]): Promise<number> {
  const { outputFiles } = await build({
    stdin: {
      contents: parts.map((part) => `export * from ${JSON.stringify(part)};`).join('\n'),
      resolveDir: import.meta.dirname,
    },
    external: ['@orrery/sdk/verification', '@orrery/sdk/decisions'],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  });
  return gzipSync(outputFiles[0]?.contents ?? '').length;
}

it('costs a page 14.1 kB, and 2.5 kB more where it verifies', async () => {
  const client = await sizeOf('./index.ts');
  expect(client).toBeLessThanOrEqual(14_100);
  const all = await sizeOf('./index.ts', './verification/verify-history.ts');
  expect(all - client).toBeLessThanOrEqual(2_500);
});

it('costs a page that checks decisions 192 kB more, and takes nothing of Node', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-decisions-'));
  try {
    const file = join(folder, 'bundle.js');
    execFileSync(process.execPath, [join(import.meta.dirname, '../bundle-decisions.js'), file]);
    const bundle = readFileSync(file, 'utf8');
    expect(gzipSync(bundle).length).toBeLessThanOrEqual(192_000);
    expect(bundle).not.toMatch(/(from|import)\s*\(?["'](node:|crypto)/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
