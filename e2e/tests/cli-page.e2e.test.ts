import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot, type System, startAllInOne } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandLine } from '../src/command-line.js';

let system: System;
let folder: string;
beforeAll(async () => {
  system = await startAllInOne();
  folder = await mkdtemp(join(tmpdir(), 'orrery-cli-page-'));
  await writeFile(join(folder, 'input.yaml'), 'horse: HORSE_1\n');
  await writeFile(
    join(folder, 'win.yaml'),
    'inputSchema: {horse: string}\nmutationSettings: {template: {"horse:{{input.horse}}": {wins: {$increment: 2}}}}\n',
  );
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await system[Symbol.asyncDispose]();
});

/** The arguments of each `orrery …` of a page, as a shell reads them. */
async function commandsOf(page: string): Promise<string[][]> {
  const text = await readFile(join(repositoryRoot, page), 'utf8');
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const commands = blocks.filter((block) => block.startsWith('orrery ')).join('\n');
  const script = `orrery() { printf '%s\\0' "$@" $'\\n'; }\n${commands}`;
  const printed = execFileSync('bash', ['-c', script], { encoding: 'utf8' });
  return printed
    .split('\n\0')
    .filter((one) => one !== '')
    .map((one) => one.split('\0').slice(0, -1));
}

it('the page on the command line works as it stands', async () => {
  const { run } = commandLine(system.commandEnv, async () => true);
  const commands = await commandsOf('docs/cli.md');
  expect(commands.length).toBeGreaterThan(20);
  for (const args of commands)
    await run(...args.map((arg) => (arg === 'derby' || arg.endsWith('.yaml') ? join(folder, arg) : arg)));
  const runs = await run('history', 'list', 'Season 1');
  expect(runs).toMatch(/win +1 +admin +succeeded/);
});
