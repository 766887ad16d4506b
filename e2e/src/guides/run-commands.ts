import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { commandLine } from '../starting/command-line.js';
import type { Block } from './pasted-pages.js';
import type { GuideHouse } from './start-guide-house.js';

/**
 * Runs each `orrery …` of a page's blocks of `sh` in this process, which takes a tenth of the time of a shell; the other lines
 * run in the folder of the house. Answers how many there were.
 */
export async function runCommands(blocks: readonly Block[], { folder, system }: GuideHouse): Promise<number> {
  const { run } = commandLine(system.commandEnv, async () => true);
  const commands = commandsOf(blocks, folder);
  const here = (argument: string) => (isFile(argument) ? join(folder, argument) : argument);
  for (const given of commands) await run(...given.map(here));
  return commands.length;
}

/** The arguments of each `orrery …`, as a shell reads them. */
function commandsOf(blocks: readonly Block[], folder: string): string[][] {
  const pasted = blocks.filter(({ language, text }) => language === 'sh' && !text.startsWith('source '));
  const script = `orrery() { printf '%s\\0' "$@" $'\\n'; }\n${pasted.map(({ text }) => text).join('\n')}`;
  const printed = execFileSync('bash', ['-c', script], { cwd: folder, encoding: 'utf8' });
  return printed
    .split('\n\0')
    .filter((one) => one !== '')
    .map((one) => one.split('\0').slice(0, -1));
}

const isFile = (argument: string): boolean => argument === 'downs' || /\.(yaml|checkpoint)$/.test(argument);
