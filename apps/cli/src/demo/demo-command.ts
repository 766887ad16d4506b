import { type AiModelRecord, type ChainRecord, MAX_LIMIT } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import { askOrFail } from '../server/ask-server.js';
import { type Server, type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import type { CommandContext } from '../terminal/context.js';
import { playDemo } from './play-demo.js';
import { aiRacingSteps, racingSteps } from './racing-steps.js';

export function addDemoCommand(program: Command, context: CommandContext): void {
  const { write } = context;
  const demo = program
    .command('demo')
    .description('play the racing walk-through against a running server')
    .option('--ai', 'let an AI model decide the races of a season')
    .option('--chain <name>', 'push the results of the races to this chain');
  withServerOptions(demo).action(async (options: ServerOptions & { ai?: true; chain?: string }) => {
    const server = await serverOf(options, context);
    if (options.ai !== true) {
      const withPushes = options.chain !== undefined;
      if (options.chain !== undefined) await requireChain(server, options.chain);
      return playDemo({ server, steps: racingSteps(options.chain), withPushes, write });
    }
    write(introduction(await defaultModel(server)));
    await playDemo({ server, steps: aiRacingSteps, write });
  });
}

/** Looked up before anything is made. */
async function requireChain(server: Server, name: string): Promise<void> {
  const { data } = await askOrFail(server, 'GET', `/chains?limit=${MAX_LIMIT}`);
  const names = (data as ChainRecord[]).map((chain) => chain.name);
  if (names.includes(name)) return;
  throw new StartupError(
    names.length === 0
      ? `The server has no chain ${name}: start it with CHAINS_FILE (docs/on-chain.md).`
      : `The server has no chain ${name}. It has: ${names.join(', ')}.`,
  );
}

async function defaultModel(server: Server): Promise<AiModelRecord> {
  const { data } = await askOrFail(server, 'GET', `/ai-models?limit=${MAX_LIMIT}`);
  const found = (data as AiModelRecord[]).find(({ isDefault }) => isDefault);
  if (found !== undefined) return found;
  throw new StartupError(
    'The server has no default AI model: start it without DATABASE_URL and NATS_URL for the built-in sampler, or name models in AI_MODELS_FILE and mark one as the default (docs/ai.md).',
  );
}

const introduction = ({ modelDisplayName, modelDescription }: AiModelRecord): string =>
  `The races are decided by ${modelDisplayName}. ${modelDescription}`;
