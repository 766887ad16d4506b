import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { bundle } from './site/bundle.js';
import { makeSite } from './site/make-site.js';
import { readSources } from './site/read-sources.js';

// Builds the site into `dist/public`: each file, and beside it what browsers take of it compressed.

const ROOT = join(import.meta.dirname, '../../..');
const OUT = join(import.meta.dirname, 'public');
/** The next steps save a hundredth and take four times as long. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

async function write([name, content]: readonly [string, string | Buffer]): Promise<void> {
  const file = join(OUT, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  if (name.endsWith('.png')) return;
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, BROTLI));
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
}

const { assets, files } = await bundle(join(import.meta.dirname, '../src'));
const site = makeSite(readSources(ROOT), assets);
await rm(OUT, { recursive: true, force: true });
await Promise.all([...files, ...site.files].map(write));
