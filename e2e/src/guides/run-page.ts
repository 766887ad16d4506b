import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BUILT_COMMAND, repositoryRoot } from '@orrery/testing/system';
import { expect } from 'vitest';
import type { Block } from './pasted-pages.js';
import type { GuideHouse } from './start-guide-house.js';

/** What a block of commands wrote, and the block of the page that shows it. */
export interface Answered {
  readonly commands: string;
  readonly output: string;
  readonly shown: Block | undefined;
}

const SEPARATOR = '=== next block ===';

const INSPECTOR = join(
  repositoryRoot,
  'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);

/**
 * Pastes the commands of a page, all into one shell, in the folder of the house. The address of the chain becomes
 * that of the house, programs of the repository are found, `npx orrery` is the built command, and any other `npx` the
 * inspector of the Model Context Protocol.
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
    env: { ...process.env, ...variables, CLI: join(repositoryRoot, BUILT_COMMAND), INSPECTOR },
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

const COMMAND =
  'npx() { if [ "$1" = orrery ]; then shift; node "$CLI" "$@"; else shift; node "$INSPECTOR" "$@"; fi; }';

/**
 * The output has what the page shows: of JSON the last answer has these members, and none before it is an error; of text
 * these lines. `…` is anything.
 */
export function expectShown({ commands, output, shown }: Answered): void {
  if (shown === undefined) {
    expectNoFailure(commands, output);
    return;
  }
  if (shown.language === 'text') {
    expect(output, commands).toMatch(
      new RegExp(shown.text.trim().split('…').map(escaped).join('[\\s\\S]*?')),
    );
    return;
  }
  const lines = output.trim().split('\n');
  const last = lines.pop() ?? '';
  expectNoFailure(commands, lines.join('\n'));
  expect(JSON.parse(last), `${commands}\n${output}`).toMatchObject(pattern(JSON.parse(shown.text)) as object);
}

/** Where a page shows no answer, none of its answers is an error. */
function expectNoFailure(commands: string, output: string): void {
  expect(output, commands).not.toContain('"success":false');
}

const escaped = (part: string): string => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

function pattern(value: unknown): unknown {
  if (typeof value === 'string' && value.includes('…'))
    return value === '…'
      ? expect.anything()
      : expect.stringMatching(value.split('…').map(escaped).join('.*'));
  if (Array.isArray(value)) return value.map(pattern);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, pattern(child)]));
}
