import { type AiModelRecord, type ChainRecord, MAX_LIMIT } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import { ask, askAt, filledPath } from '../server/ask-server.js';
import { type Server, type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import { Refusal } from '../server/refusal.js';
import type { CommandContext } from '../terminal/context.js';
import { formatRows } from '../terminal/format-rows.js';
import { poll } from '../terminal/poll.js';
import { aiRacingSteps, pushesPath, racingSteps, type Step, tablePath } from './racing-steps.js';

export function addDemoCommand(program: Command, context: CommandContext): void {
  const { write } = context;
  const demo = program
    .command('demo')
    .description('play the racing walk-through against a running server')
    .option('--ai', 'let an AI model decide the races of a season')
    .option('--chain <name>', 'push the results of the races to this chain');
  withServerOptions(demo).action(async (options: ServerOptions & { ai?: true; chain?: string }) => {
    const server = await serverOf(options, context);
    if (options.ai === true) {
      const { modelDisplayName, modelDescription } = await defaultModel(server);
      write(`The races are decided by ${modelDisplayName}. ${modelDescription}`);
      return play(aiRacingSteps, server, write);
    }
    if (options.chain !== undefined) await requireChain(server, options.chain);
    await play(racingSteps(options.chain), server, write, options.chain !== undefined);
  });
}

/** Looked up before anything is made. */
async function requireChain(server: Server, name: string): Promise<void> {
  const { data } = await askAt(server, 'GET', `/chains?limit=${MAX_LIMIT}`);
  const names = (data as ChainRecord[]).map((chain) => chain.name);
  if (names.includes(name)) return;
  throw new StartupError(
    names.length === 0
      ? `The server has no chain ${name}: start it with CHAINS_FILE (docs/on-chain.md).`
      : `The server has no chain ${name}. It has: ${names.join(', ')}.`,
  );
}

async function defaultModel(server: Server): Promise<AiModelRecord> {
  const { data } = await askAt(server, 'GET', `/ai-models?limit=${MAX_LIMIT}`);
  const found = (data as AiModelRecord[]).find(({ isDefault }) => isDefault);
  if (found !== undefined) return found;
  throw new StartupError(
    'The server has no default AI model: start it without DATABASE_URL and NATS_URL for the built-in sampler, or name models in AI_MODELS_FILE and mark one as the default (docs/ai.md).',
  );
}

/** Plays a walk-through against a running server and shows each step and the resulting table. */
async function play(
  steps: readonly Step[],
  server: Server,
  write: CommandContext['write'],
  withPushes = false,
): Promise<void> {
  const names: Record<string, string> = {};
  for (const [index, { says, method, body, names: name, mayFail, shown, ...step }] of steps.entries()) {
    const [path, params] = [`/api${step.path}`, { ...names, ...step.params }];
    write(`\n${index + 1}. ${says}\n   ${method} ${filledPath({ path, params })}`);
    try {
      const { data } = await ask(server, { method, path, params, body });
      if (name !== undefined) names[name] = (data as { address: string }).address;
      write(`   ${shorten(JSON.stringify(shown === undefined ? data : shown(data as never)))}`);
    } catch (error) {
      if (!(error instanceof Refusal) || mayFail?.includes(error.problem.code) !== true) throw error;
      write(`   refused, nothing changed (${error.problem.code}): ${error.problem.error}`);
    }
  }
  if (withPushes) await showPushes(server, filledPath({ path: pushesPath, params: names }), write);
  const horses = await askAt(server, 'GET', filledPath({ path: tablePath, params: names }));
  const rows = (horses.data as Horse[]).map(({ instanceId, state }) => ({ horse: instanceId, ...state }));
  write(`\n${formatRows(rows, ['horse', 'wins', 'speed', 'stamina'])}`);
}

interface Horse {
  instanceId: string;
  state: Record<string, unknown>;
}

const shorten = (text: string): string => (text.length <= 150 ? text : `${text.slice(0, 149)}…`);

/** How long pushes are waited for. */
const WAITING = { forMs: 60_000, everyMs: 500 };

interface Push {
  number: number;
  status: string;
  transaction: string | null;
  block: number | null;
}

/** Waits until the pushes of a deployment are on the chain, and shows where. */
async function showPushes(server: Server, path: string, write: CommandContext['write']): Promise<void> {
  const read = async () => (await askAt(server, 'GET', path)).data as Push[];
  const areThere = (all: Push[]) =>
    all.length > 0 && all.every(({ status }) => status === 'confirmed' || status === 'finalized');
  const pushes = await poll(read, areThere, WAITING);
  write(`\nThe pushes of the deployment (GET /api${path})`);
  write(formatRows(pushes, ['number', 'status', 'block', 'transaction']));
}
