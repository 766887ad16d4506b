import { isJsonObject, type JsonObject } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import { readDocument } from '../documents/read-document.js';
import { type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import type { CommandContext } from '../terminal/context.js';
import { numberLike } from '../terminal/options.js';
import { showTries } from './show-tries.js';
import { type TryRequest, tryEvent } from './try-event.js';

const wholeFrom1 = numberLike(/^[1-9]\d{0,8}$/, 'It must be a whole number from 1.');

interface TryOptions extends ServerOptions, Omit<TryRequest, 'input'> {
  readonly input?: string;
  readonly json?: true;
}

/** `orrery events try`, for those who write events: how stable is a prompt, before its version is bound? */
export function addEventsCommands(program: Command, context: CommandContext): void {
  const events = program.command('events');
  const trying = events
    .command('try')
    .description('make dry runs of an event and show their proposals side by side')
    .requiredOption(
      '--deployment <deployment>',
      'WORLD/DEPLOYMENT, or one of yours alone, by id, address or name',
    )
    .requiredOption('--event <name>', 'the event')
    .option('--world <world>', "the deployment's world, where --deployment does not say it")
    .option(
      '--version <number>',
      'a version of the event, bound or not; the bound one if left out',
      wholeFrom1,
    )
    .option('--input <file|json>', 'the input, in JSON or YAML; {} if left out')
    .option('--model <id>', "an AI model; the deployment's if left out")
    .option('--times <number>', 'how many dry runs, up to 100', wholeFrom1, 3)
    .option('--json', 'print JSON');
  withServerOptions(trying).action((options: TryOptions) => runTries(options, context));
}

/** @throws StartupError when a try gave no valid proposal, so that the command fails */
async function runTries(options: TryOptions, context: CommandContext): Promise<void> {
  const { json, input, ...rest } = options;
  if (options.times > 100) throw new StartupError('--times may be 100 at most.');
  const asked = { ...rest, input: input === undefined ? {} : await readInput(input) };
  const tries = await tryEvent(await serverOf(options, context), asked);
  const invalid = tries.filter(({ valid }) => !valid).length;
  const { event, eventVersion, model } = tries.find(({ valid }) => valid) ?? tries[0] ?? {};
  context.write(
    json === true
      ? JSON.stringify({ event, eventVersion, model, valid: tries.length - invalid, tries }, null, 2)
      : showTries(tries),
  );
  if (invalid > 0) throw new StartupError(`${invalid} of ${tries.length} tries gave no valid proposal.`);
}

async function readInput(given: string): Promise<JsonObject> {
  const input = await readDocument(given);
  if (!isJsonObject(input)) throw new StartupError(`The input ${given} is no JSON object.`);
  return input;
}
