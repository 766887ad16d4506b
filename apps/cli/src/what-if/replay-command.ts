import { isJsonObject, type JsonObject } from '@orrery/contracts';
import {
  createOrrery,
  OrreryError,
  type Replay,
  type ReplayComparison,
  type ReplayedEntry,
  type ReplayOptions,
} from '@orrery/sdk';
import { StartupError } from '@orrery/service-kit';
import { type Command, CommanderError, InvalidArgumentError } from 'commander';
import { readDocument } from '../documents/read-document.js';
import { type DeploymentReference, findDeployment } from '../operations/references.js';
import { type Server, type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import { failureOf } from '../server/refusal.js';
import type { CommandContext } from '../terminal/context.js';
import { INTERRUPTED, numberLike, wholeNumber } from '../terminal/options.js';
import { estimateLine, reasonOf, showReplay } from './show-replay.js';

/** The exit code of a replay whose history is another one, where that is asked for; a failure is 1. */
const PARTED = 2;

interface ReplayFlags extends ServerOptions, Pick<ReplayOptions, 'from' | 'to' | 'model' | 'times' | 'keep'> {
  readonly event: Readonly<Record<string, number>>;
  readonly input: Readonly<Record<string, string>>;
  readonly budget?: number;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly failIfParted?: true;
  readonly json?: true;
}

const wholeFrom1 = numberLike(/^[1-9]\d{0,8}$/, 'It must be a whole number from 1.');
const dollars = numberLike(/^\d+(\.\d+)?$/, 'It must be an amount such as 0.5.');

/** `orrery replay`: what if? A part of a history again, with changes, and both histories side by side. */
export function addReplayCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('replay')
    .description('what if: replay a part of a history with changes, and show both side by side')
    .argument('<deployment>', 'a deployment as WORLD/DEPLOYMENT, or one of yours alone')
    .option('--from <seq>', 'the first entry of the journal that is replayed; 2 if left out', wholeNumber)
    .option('--to <seq>', 'the last one; the last of the journal if left out', wholeNumber)
    .option(
      '--event <event=version>',
      'a version of an event, as it is now; may be repeated',
      otherVersion,
      {},
    )
    .option('--input <seq=file|json>', 'another input for one entry; may be repeated', otherInput, {})
    .option('--model <id>', 'another AI model')
    .option('--times <number>', 'how often, up to 20: the outcomes of models spread', wholeFrom1)
    .option(
      '--budget <usd>',
      "US dollars that models may cost each run; the deployment's budget if left out",
      dollars,
    )
    .option('--keep', 'keep the forks; else they are deleted')
    .option('--dry-run', 'only tell what it will take')
    .option('--yes', 'do not ask before models are asked')
    .option('--fail-if-parted', `end with the exit code ${PARTED} where an entry ends otherwise`)
    .option('--json', 'print JSON');
  withServerOptions(command).action((deployment: string, flags: ReplayFlags) =>
    runReplay(deployment, flags, context),
  );
}

function otherVersion(text: string, before: Readonly<Record<string, number>>): Record<string, number> {
  const [, event, version] = /^(.+)=([1-9]\d{0,8})$/s.exec(text) ?? [];
  if (event === undefined)
    throw new InvalidArgumentError('It must be an event and a version, such as race=3.');
  return { ...before, [event]: Number(version) };
}

function otherInput(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const [, seq, input] = /^([1-9]\d{0,14})=(.+)$/s.exec(text) ?? [];
  if (seq === undefined || input === undefined)
    throw new InvalidArgumentError('It must be an entry and its input, such as 120=input.json.');
  return { ...before, [seq]: input };
}

async function runReplay(deployment: string, flags: ReplayFlags, context: CommandContext): Promise<void> {
  const server = await serverOf(flags, context);
  const found = await findDeployment(server, deployment);
  const inputs = await readInputs(flags.input);
  const { replayed, entries } = await untilInterrupted(context, (signal) =>
    orRefusal(server, found, async () => {
      const { from, to, model, times, keep, event: versions, budget: budgetUsd } = flags;
      const options = { from, to, model, times, keep, versions, inputs, budgetUsd, signal };
      const { url, key: token } = server;
      const replay = createOrrery({ url, token })
        .deployment(found.worldAddress, found.address)
        .replay(options);
      return replayOrTell(replay, flags, context);
    }),
  );
  if (replayed === undefined) return;
  context.write(
    flags.json === true
      ? JSON.stringify({ ...replayed, entries: entries.map(toldOf) }, null, 2)
      : showReplay(replayed, entries),
  );
  const parted = replayed.runs.filter(({ partsAt }) => partsAt !== null).length;
  if (flags.failIfParted === true && parted > 0) {
    context.note(`${parted} of ${replayed.runs.length} runs part from the recorded history.`);
    throw new CommanderError(PARTED, 'orrery.parted', 'parted');
  }
}

/** An entry that ends otherwise, for programs. */
const toldOf = (entry: ReplayedEntry) => {
  const { run, seq, differences } = entry;
  return { run, seq, differences, error: reasonOf(entry) };
};

interface Replayed {
  /** Undefined: it was only told what it would take. */
  readonly replayed?: ReplayComparison;
  /** Some of those that end otherwise. */
  readonly entries: readonly ReplayedEntry[];
}

const MOST_SHOWN = 20;

async function replayOrTell(
  replay: Replay,
  flags: ReplayFlags,
  { note, write, confirm }: CommandContext,
): Promise<Replayed> {
  const estimate = await replay.estimate();
  const told = estimateLine(estimate);
  if (flags.dryRun === true) {
    write(flags.json === true ? JSON.stringify(estimate, null, 2) : told);
    return { entries: [] };
  }
  note(told);
  const asksModels = estimate.cost.executions + estimate.withoutEstimate > 0;
  if (asksModels && flags.yes !== true && !(await confirm('Ask the models?'))) return { entries: [] };
  const entries: ReplayedEntry[] = [];
  for await (const entry of replay) if (entry.parts && entries.length < MOST_SHOWN) entries.push(entry);
  return { replayed: await replay.comparison(), entries };
}

/** Ctrl-C ends the replay, which deletes its fork. */
async function untilInterrupted<T>(
  { note }: CommandContext,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  process.once('SIGINT', leave).once('SIGTERM', leave);
  try {
    return await work(leaving.signal);
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    note('The replay was ended, and its fork is deleted.');
    throw new CommanderError(INTERRUPTED, 'orrery.interrupted', 'interrupted');
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave);
  }
}

async function orRefusal<T>(
  server: Server,
  { worldAddress, address }: DeploymentReference,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RangeError) throw new StartupError(error.message);
    if (!(error instanceof OrreryError)) throw error;
    const path = `/api/worlds/${worldAddress}/deployments/${address}/replay`;
    throw failureOf(server, { method: 'POST', path }, error);
  }
}

async function readInputs(given: ReplayFlags['input']): Promise<Record<number, JsonObject>> {
  const read = Object.entries(given).map(async ([seq, text]) => {
    const input = await readDocument(text);
    if (!isJsonObject(input)) throw new StartupError(`The input of entry ${seq} is no JSON object.`);
    return [seq, input] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}
