import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { playDemo } from './play-demo.js';

export function addDemoCommand(program: Command, { env, write }: CommandContext): void {
  const address = `http://127.0.0.1:${env.PORT || 3000}`;
  program
    .command('demo')
    .description('play the racing walk-through against a running server')
    .option('--url <url>', 'address of the server', address)
    .option('--key <key>', 'an API key; by default that of the all-in-one in this folder')
    .action(async ({ url, key }: { url: string; key?: string }) =>
      playDemo({ url, key: key ?? (await storedKey(env.ORRERY_DATA_DIR || '.orrery')), write }),
    );
}

async function storedKey(dataDirectory: string): Promise<string> {
  const file = join(dataDirectory, 'api-key');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new StartupError(`There is no key in ${file}: run \`npm start\` here first, or pass --key.`);
  });
  return text.trim();
}
