import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@orrery/testing/system';
import { vi } from 'vitest';
import { freePort } from '../starting/free-port.js';
import { type Program, startProgram } from './start-program.js';

/** The newest that runs on Node 20. Too large (90 MB) for everybody's installation. */
const PRISM = '@stoplight/prism-cli@5.12.0';
const home = join(repositoryRoot, '.cache', 'prism');
const program = join(home, 'node_modules', '@stoplight', 'prism-cli', 'dist', 'index.js');

/** Prism before a system: an answer that breaks `openapi.json` comes back as a 500 of its own. */
export async function startValidatingProxy(url: string): Promise<{ url: string; proxy: Program }> {
  await install();
  const port = String(await freePort());
  const proxy = startProgram(process.execPath, [
    program,
    'proxy',
    'openapi.json',
    url,
    '--errors',
    '-p',
    port,
  ]);
  await vi.waitFor(() => {
    if (!proxy.output().includes('Prism is listening')) throw new Error(`Prism: ${proxy.output()}`);
  }, 60_000);
  return { url: `http://127.0.0.1:${port}`, proxy };
}

async function install(): Promise<void> {
  if (existsSync(program)) return;
  const args = ['install', '--no-audit', '--no-fund', '--prefix', home, PRISM];
  await using npm = startProgram('npm', args);
  if ((await npm.exited) !== 0) throw new Error(`${PRISM} cannot be installed:\n${npm.output()}`);
}
