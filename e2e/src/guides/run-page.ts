import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BUILT_COMMAND, repositoryRoot } from '@orrery/testing/system';
import type { Block } from './read-page.js';
import type { GuideHouse } from './start-guide-house.js';

/** What a block of commands wrote, and the block of the page that shows it. */
export interface Answered {
  readonly commands: string;
  readonly output: string;
  readonly shown: Block | undefined;
}

const SEPARATOR = '=== next block ===';

/**
 * Pastes the commands of a page, all into one shell, in the folder of the house. The address of the chain becomes
 * that of the house, programs of the repository are found, and `npx orrery` is the built command.
 */
export async function runPage(
  blocks: readonly Block[],
  { chainUrl, folder, variables }: GuideHouse,
): Promise<Answered[]> {
  const commands = blocks.filter(({ language }) => language === 'bash');
  const here = (line: string) =>
    line
      .replaceAll('http://127.0.0.1:8545', chainUrl)
      .replaceAll(/\b(examples|docs)\/(?=[\w/-]+\.mjs)/g, `${repositoryRoot}$1/`);
  const script = [COMMAND, ...commands.map(({ text: own }) => `${here(own)}\necho '${SEPARATOR}'`)].join(
    '\n',
  );
  const shell = spawn('bash', ['-s'], {
    cwd: folder,
    env: { ...process.env, ...variables, CLI: join(repositoryRoot, BUILT_COMMAND) },
  });
  shell.stdin.end(script);
  const [output, errors] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')]);
  if (errors !== '') throw new Error(`the commands complained:\n${errors}\n${output}`);
  const outputs = output.split(`${SEPARATOR}\n`);
  return commands.map((block, at) => {
    const next = blocks[blocks.indexOf(block) + 1];
    const isShown = next?.language === 'json' || next?.language === 'text';
    return { commands: block.text, output: outputs[at] ?? '', shown: isShown ? next : undefined };
  });
}

const COMMAND = 'npx() { shift; node "$CLI" "$@"; }';
