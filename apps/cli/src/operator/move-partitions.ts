import {
  abortMove,
  cleanMoved,
  isDatabaseNamed,
  type MoveOptions,
  movePartition,
  OPERATOR,
  openRuntimeDatabase,
} from '@orrery/runtime/operator';
import { StartupError, systemClock } from '@orrery/service-kit';
import type { CommandContext } from '../terminal/context.js';
import { addressVariable } from './all-homes.js';
import { newsText, progressText, STEP_TEXTS } from './move-texts.js';
import { openHome } from './open-home.js';
import { asAdvice } from './passing-failures.js';
import { watchMove } from './watch-move.js';
import { commandLogger, databaseIn, withDatabase } from './with-database.js';

export interface MoveWishes {
  /** The name of the other database, whose address is in a variable. */
  readonly to?: string;
  readonly toUrl?: string;
  readonly fromUrl?: string;
  readonly abort?: true;
  readonly clean?: true;
  readonly watch?: true;
  readonly discardTarget?: true;
  readonly discardSource?: true;
}

/** `orrery partitions move`: from the runtime's database to another one, each after the other. @throws StartupError */
export const movePartitions = (
  context: CommandContext,
  numbers: readonly string[],
  wishes: MoveWishes,
): Promise<void> => move(context, numbers, wishes).catch((error: unknown) => Promise.reject(asAdvice(error)));

async function move(
  { env, write }: CommandContext,
  numbers: readonly string[],
  wishes: MoveWishes,
): Promise<void> {
  const partitions = numbers.map(partitionNamed);
  const databaseUrl = wishes.toUrl ?? addressOf(env, wishes.to);
  if ([wishes.abort, wishes.clean, wishes.watch].filter((wish) => wish).length > 1)
    throw new StartupError('One of --abort, --clean and --watch.');
  if (wishes.discardTarget && !wishes.abort) throw new StartupError('--discard-target goes with --abort.');
  if (wishes.discardSource && (wishes.abort || wishes.clean || wishes.watch))
    throw new StartupError('--discard-source goes with a move alone.');
  if (wishes.watch && partitions.length > 1) throw new StartupError('Watch one partition.');
  const applicationName = wishes.watch ? 'orrery-watch' : OPERATOR;
  const open = openHome(env, applicationName);
  await withDatabase(env, open, async ({ runtime: source, directory, databaseUrl: from }) => {
    await using target = await openRuntimeDatabase({
      databaseUrl,
      logger: commandLogger(),
      maxConnections: 1,
      applicationName,
    });
    if (wishes.to !== undefined && !(await isDatabaseNamed(target.db, directory, wishes.to)))
      throw new StartupError(
        `The address is not that of the database which the directory names ${wishes.to}.`,
      );
    for (const partition of partitions) {
      const sourceUrl = wishes.fromUrl ?? from;
      const between = { source, target: target.db, directory, partition, sourceUrl, clock: systemClock };
      const discarding = {
        discardTarget: wishes.discardTarget === true,
        discardSource: wishes.discardSource === true,
      };
      await carryOut({ ...between, ...discarding, ...tellingOf(partition, write) }, wishes, write);
    }
  });
}

async function carryOut(
  options: MoveOptions,
  { abort, clean, watch, to }: MoveWishes,
  write: CommandContext['write'],
): Promise<void> {
  const { partition } = options;
  const where = to === undefined ? '--to-url …' : `--to ${to}`;
  if (watch) await watchMove({ ...options, write, command: `orrery partitions move ${partition} ${where}` });
  else if (abort) {
    await abortMove(options);
    write(`partition ${partition}: as before`);
  } else if (clean) write(`partition ${partition}: ${await cleanMoved(options)} rows deleted`);
  else {
    await movePartition(options);
    write(`partition ${partition}: moved`);
  }
}

function partitionNamed(text: string): number {
  if (/^\d{1,2}$/.test(text) && Number(text) < 64) return Number(text);
  throw new StartupError(`${text} is no partition: they have numbers from 0 to 63.`);
}

function addressOf(env: CommandContext['env'], name: string | undefined): string {
  if (name === undefined)
    throw new StartupError('Say where to: --to with a name, or --to-url with an address.');
  const variable = addressVariable(name);
  const address = databaseIn(env, variable);
  if (address) return address;
  throw new StartupError(`Set ${variable} to the address of the database ${name}, or give it with --to-url.`);
}

/** News come as often as there is something: one a second is shown. */
const NEWS_MS = 1000;

function tellingOf(
  partition: number,
  write: CommandContext['write'],
): Required<Pick<MoveOptions, 'onStep' | 'onProgress' | 'onNews'>> {
  let [copiedFrom, toldAt] = [0, performance.now()];
  const tell = (text: string) => write(`partition ${partition}: ${text}`);
  return {
    onStep: (step, ownerlessMs) => {
      if (step === 'subscribed') copiedFrom = performance.now();
      if (step === 'ended') return;
      tell(step === 'switched' ? switchedText(ownerlessMs) : STEP_TEXTS[step]);
    },
    onProgress: (progress) => tell(progressText(progress, performance.now() - copiedFrom)),
    onNews: (news) => {
      const now = performance.now();
      if (now - toldAt < NEWS_MS) return;
      toldAt = now;
      tell(newsText(news));
    },
  };
}

const switchedText = (ownerlessMs: number | undefined): string =>
  ownerlessMs === undefined
    ? 'it lives there'
    : `it lives there, after ${Math.round(ownerlessMs)} ms without owner`;
