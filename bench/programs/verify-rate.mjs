// How many entries a second of one core the SDK verifies, with and without decisions: executions with one filtered read, from
// memory, no network. `node bench/programs/verify-rate.mjs [--browser]`
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { build } from 'esbuild';

const here = import.meta.dirname;
const inBrowser = process.argv.includes('--browser');
const { outputFiles } = await build({
  entryPoints: [join(here, 'verify-rate/measure.mjs')],
  conditions: ['@orrery/source'],
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  globalName: 'measuring',
  platform: 'browser',
});
const code = outputFiles[0].text;
const run = '(async () => JSON.stringify(await measuring.measure()))()';
process.stdout.write(`${inBrowser ? await inChromium() : await inNode()}\n`);

async function inNode() {
  const folder = mkdtempSync(join(here, '.verify-rate-'));
  try {
    const file = join(folder, 'measure.mjs');
    writeFileSync(file, `${code};export default await ${run};`);
    return (await import(file)).default;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function inChromium() {
  const { chromium } = await import('playwright-core');
  const server = createServer((_, reply) =>
    reply.setHeader('content-type', 'text/html').end('<p></p>'),
  ).listen(0);
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.addScriptTag({ content: code });
    return await page.evaluate(run);
  } finally {
    await browser.close();
    server.close();
  }
}
