import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@orrery/testing/servers';
import { repositoryRoot } from '@orrery/testing/system';
import { vi } from 'vitest';
import { type Program, startProgram } from './describe-with-program.js';

/** Too large (90 MB) for everybody's installation. */
const PRISM = '@stoplight/prism-cli@5.16.0';
const home = join(repositoryRoot, '.cache', 'prism');
const program = join(home, 'node_modules', '@stoplight', 'prism-cli', 'dist', 'index.js');

/** Starts Prism as a validating proxy: it tells what breaks `openapi.json` in the header `sl-violations`. */
export async function startPrism(upstream: string): Promise<{ port: number; prism: Program }> {
  await install();
  const port = await freePort();
  const args = [program, 'proxy', 'openapi.json', upstream, '-p', String(port), '-v', 'warn'];
  const prism = startProgram(process.execPath, args);
  await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/`), 60_000);
  return { port, prism };
}

async function install(): Promise<void> {
  if (existsSync(program)) return;
  const args = ['install', '--no-audit', '--no-fund', '--prefix', home, PRISM];
  await using npm = startProgram('npm', args);
  if ((await npm.exited) !== 0) throw new Error(`${PRISM} cannot be installed:\n${npm.output()}`);
}
