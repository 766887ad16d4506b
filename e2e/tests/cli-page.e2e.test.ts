import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type System, startAllInOne } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandLine } from '../src/command-line.js';
import { readPage } from '../src/guides/read-page.js';

const page = readPage('docs/cli.md');
let system: System;
let folder: string;
beforeAll(async () => {
  system = await startAllInOne();
  folder = await mkdtemp(join(tmpdir(), 'orrery-cli-page-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await system[Symbol.asyncDispose]();
});

/** The arguments of each `orrery …` of the page, as a shell reads them; its other lines run in the folder. */
function commandsOf(): string[][] {
  const blocks = page.filter(({ language, text }) => language === 'sh' && !text.startsWith('source '));
  const script = `orrery() { printf '%s\\0' "$@" $'\\n'; }\n${blocks.map(({ text }) => text).join('\n')}`;
  const printed = execFileSync('bash', ['-c', script], { cwd: folder, encoding: 'utf8' });
  return printed
    .split('\n\0')
    .filter((one) => one !== '')
    .map((one) => one.split('\0').slice(0, -1));
}

it('the page on the command line works as it stands', async () => {
  const { run } = commandLine(system.commandEnv, async () => true);
  const commands = commandsOf();
  expect(commands.length).toBeGreaterThan(25);
  for (const args of commands)
    await run(...args.map((arg) => (arg === 'downs' || arg.endsWith('.yaml') ? join(folder, arg) : arg)));
  const runs = await run('history', 'list', 'Season 1');
  expect(runs).toMatch(/win +1 +admin +succeeded/);
});

it('the files that it shows are a world', async () => {
  const files = page.filter(({ language }) => language === 'yaml');
  const paths = await Promise.all(
    files.map(async ({ text }) => {
      const path = join(folder, 'shown', /^# (\S+)\n/.exec(text)?.[1] ?? 'no name');
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      return path.slice(folder.length);
    }),
  );
  expect(paths).toEqual(['/shown/world.yaml', '/shown/schemas/horse.yaml', '/shown/events/race.yaml']);
  const { end } = commandLine(system.commandEnv);
  expect(await end('world', 'apply', join(folder, 'shown'), '--dry-run')).toMatchObject({
    failed: false,
    stderr: '',
  });
});
