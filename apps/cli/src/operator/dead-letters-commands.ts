import {
  chainsOf,
  findDeadLetter,
  listDeadLetters,
  openChainPusherDatabase,
  type ParkedMessage,
  type Resolution,
  resolveDeadLetter,
} from '@orrery/chain-pusher/operator';
import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import type { CommandContext } from '../terminal/context.js';
import { formatRows } from '../terminal/format-rows.js';
import { poll } from '../terminal/poll.js';
import { withDatabase } from './with-database.js';

/** `orrery dead-letters list|retry|skip`, for operators: entries of journals that a consumer could not handle. */
export function addDeadLettersCommands(program: Command, context: CommandContext): void {
  const letters = program
    .command('dead-letters')
    .description('see and resolve journal entries that stop the pushes of a deployment');
  letters
    .command('list')
    .description('list the entries that stop a deployment, the oldest first, with the reason')
    .option('--json', 'print an array')
    .action((options: { json?: true }) => list(context, options));
  for (const [resolution, description] of [
    ['retry', 'handle the entry again, and then those after it'],
    ['skip', 'leave the entry out for good, and go on after it'],
  ] as const)
    letters
      .command(`${resolution} <deployment>`)
      .description(description)
      .action((deployment: string) => resolve(context, deployment, resolution));
}

const MOST_LISTED = 1000;

const list = ({ env, write }: CommandContext, { json }: { json?: true }): Promise<void> =>
  withDatabase(env, openChainPusherDatabase, async (db) => {
    const found = (await listDeadLetters(db, MOST_LISTED)).map(toRow);
    if (json) return write(JSON.stringify(found));
    const columns = ['deployment', 'seq', 'consumer', 'since', 'asked', 'reason'];
    write(found.length === 0 ? 'nothing is stopped' : formatRows(found, columns));
  });

const toRow = ({ key, seq, consumer, parkedAt, resolution, reason }: ParkedMessage) => ({
  deployment: key,
  seq,
  consumer,
  since: parkedAt.toISOString(),
  asked: resolution,
  reason,
});

/** How long the command waits for a running service, which looks every 5 seconds. */
const WAITING = { forMs: 15_000, everyMs: 200 };

async function resolve(
  { env, write }: CommandContext,
  address: string,
  resolution: Resolution,
): Promise<void> {
  const deployment = address.toLowerCase();
  if (!/^0x[\da-f]{40}$/.test(deployment))
    throw new StartupError('Name the deployment by its address: 0x and 40 hex digits.');
  await withDatabase(env, openChainPusherDatabase, async (db) => {
    const before = await findDeadLetter(db, deployment);
    if (before === undefined) throw new StartupError(`No dead letter stops the deployment ${deployment}.`);
    if (resolution === 'skip') refuseLost(before, await chainsOf(db, deployment));
    await resolveDeadLetter(db, deployment, resolution);
    const now = await poll(() => findDeadLetter(db, deployment), hasHappened, WAITING);
    if (now === undefined) return write(`${deployment} goes on after entry ${before.seq}`);
    if (!hasHappened(now)) return write(`${deployment} goes on as soon as a chain-pusher runs`);
    throw new StartupError(`Entry ${now.seq} stops ${deployment}: ${now.reason}`);
  });
}

const hasHappened = (letter: ParkedMessage | undefined): boolean => letter?.resolution == null;

/** What the chains have of entries that are gone is not left out by going on. */
function refuseLost({ key, reason }: ParkedMessage, chains: readonly string[]): void {
  if (!reason.startsWith('tail_lost') || chains.length === 0) return;
  throw new StartupError(
    `The journal of ${key} has lost entries that were pushed. For each of its chains (${chains.join(', ')}) decide with ` +
      `"orrery chains adopt --deployment ${key} --chain …" what holds.`,
  );
}
