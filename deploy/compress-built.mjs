import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

// Run in the folder of an app: compresses what it has built once, as well as it can be, beside each file. The gateway sends
// what the browser accepts.

const folder = join(process.cwd(), 'dist');
const names = await readdir(folder, { recursive: true });
const texts = names.filter((name) => /\.(js|css|html|svg)$/.test(name));

await Promise.all(
  texts.map(async (name) => {
    const path = join(folder, name);
    const content = await readFile(path);
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
    await writeFile(`${path}.br`, await promisify(brotliCompress)(content, { params }));
    await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
  }),
);
