import { setTimeout } from 'node:timers/promises';
import { CheckpointError, type CheckpointPath, createOrrery, type Orrery, OrreryError } from '@orrery/sdk';
import { StartupError } from '@orrery/service-kit';
import { type Command, CommanderError, InvalidArgumentError } from 'commander';
import { findDeployment } from '../operations/references.js';
import {
  type Server,
  type ServerOptions,
  serverOf,
  urlOf,
  withServerOptions,
} from '../server/find-server.js';
import { failureOf } from '../server/refusal.js';
import type { CommandContext } from '../terminal/context.js';
import { openWitnessStore, type WitnessStore } from './witness-store.js';

/** The exit code where a journal does not extend the checkpoint that was kept; any other failure is 1. */
const DOES_NOT_HOLD = 2;

interface WitnessFlags extends ServerOptions {
  readonly publicKey: readonly string[];
  readonly store: string;
  readonly every: number;
  readonly once?: true;
}

/** `orrery witness`: keeps the checkpoints of a deployment, and says when one does not extend the one before. */
export function addWitnessCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('witness')
    .description('follow the checkpoints of a deployment, and say when its history was rewritten')
    .argument('<deployment>', 'the address of a published one; with a key also WORLD/DEPLOYMENT')
    .option(
      '--public-key <key>',
      'a public key of the operator, may be repeated; without it those that the server names the first time',
      (key: string, before: readonly string[]) => [...before, key],
      [],
    )
    .option('--store <folder>', 'where the last checkpoint is kept', '.orrery-witness')
    .option('--every <time>', 'how often to look, such as 10s, 5m or 1h', milliseconds, 10_000)
    .option('--once', 'look once and end');
  withServerOptions(command).action((deployment: string, flags: WitnessFlags) =>
    witness(deployment, flags, context),
  );
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

function milliseconds(text: string): number {
  const [, number, unit = ''] = /^([1-9]\d{0,4})([smh])$/.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError('It must be a time such as 10s, 5m or 1h.');
  return Number(number) * (UNITS[unit] ?? 0);
}

interface Journal {
  readonly server: Server;
  readonly path: CheckpointPath;
}

interface Watched extends Journal {
  readonly orrery: Orrery;
  readonly store: WitnessStore;
  readonly keys: readonly string[];
}

/** Goes on while the server is away, also from the first look on. */
async function witness(deployment: string, flags: WitnessFlags, context: CommandContext): Promise<void> {
  let watched: Watched | undefined;
  for (let size = 0; ; await setTimeout(flags.every)) {
    try {
      watched ??= await begin(deployment, flags, context);
      const seen = await look(watched, context);
      if (seen.size !== size) context.write(lineOf(seen));
      size = seen.size;
    } catch (error) {
      if (!isAway(error)) throw error;
      context.note(textOfAway(error as StartupError));
      if (flags.once === true)
        throw new StartupError('Nothing could be compared: the server cannot be asked now.');
    }
    if (flags.once === true) return;
  }
}

/** @throws StartupError where it cannot begin; whether it may later tells its cause */
async function begin(deployment: string, flags: WitnessFlags, context: CommandContext): Promise<Watched> {
  const { server, path } = await findJournal(deployment, flags, context);
  // The next look is another try; until then nothing is told of this one.
  const retryForMs = flags.once === true ? PATIENCE_MS : Math.min(flags.every, PATIENCE_MS);
  const orrery = createOrrery({ url: server.url, token: server.key, retryForMs });
  const store = await openWitnessStore(flags.store, path.address);
  const keys = await keysOf(orrery, path, store, flags, context).catch(failWith({ server, path }));
  return { server, orrery, path, store, keys };
}

/** @throws StartupError for what the server answers, or does not */
const failWith =
  ({ server, path }: Journal) =>
  (error: unknown): never => {
    if (isLate(error)) throw new StartupError(LATE, { cause: error });
    if (!(error instanceof OrreryError)) throw error;
    throw failureOf(server, { method: 'GET', path: pathOf(path) }, error);
  };

/** A stranger knows an address; its deployment has to be published then. */
async function findJournal(
  deployment: string,
  flags: WitnessFlags,
  context: CommandContext,
): Promise<Journal> {
  if (/^0x[0-9a-f]{40}$/i.test(deployment)) {
    const server = { url: await urlOf(flags, context), key: '' };
    return { server, path: { address: deployment.toLowerCase() } };
  }
  const server = await serverOf(flags, context);
  const { worldAddress, address } = await findDeployment(server, deployment);
  return { server, path: { worldAddress, address } };
}

/** Those that are given, those that were trusted before, or, the first time, those that the server names. */
async function keysOf(
  orrery: Orrery,
  path: CheckpointPath,
  store: WitnessStore,
  { publicKey }: WitnessFlags,
  { note }: CommandContext,
): Promise<readonly string[]> {
  if (publicKey.length > 0) return publicKey;
  const kept = await store.keys.read();
  if (kept !== undefined) return kept.split('\n').filter((line) => line !== '');
  const { keys } = await headOf(orrery, path);
  await store.keys.write(keys.map((key) => `${key}\n`).join(''));
  note(
    `From now on it trusts ${keys.join(', ')}, as the server says: compare this with what the operator tells.`,
  );
  return keys;
}

function headOf(orrery: Orrery, { worldAddress, address }: CheckpointPath) {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  return worldAddress === undefined
    ? orrery.get('/app/deployments/{address}/head', { path: { address }, signal })
    : orrery.get('/api/worlds/{worldAddress}/deployments/{address}/head', {
        path: { worldAddress, address },
        signal,
      });
}

/** Milliseconds for one look: a server that answers slowly, or never, hides what it could not deny. */
const PATIENCE_MS = 30_000;

type Seen = Awaited<ReturnType<Orrery['checkpoint']>>;

/** One comparison. @throws CommanderError where the history does not hold, StartupError where nothing could be compared */
async function look(watched: Watched, { note }: CommandContext): Promise<Seen> {
  const { orrery, path, store, keys } = watched;
  try {
    const after = await store.checkpoint.read();
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const seen = await orrery.checkpoint(path, { keys, after, signal });
    if (seen.note !== after) await store.checkpoint.write(seen.note);
    return seen;
  } catch (error) {
    if (error instanceof CheckpointError) throw await convict(error, store, note);
    if (error instanceof TypeError) throw new StartupError(error.message, { cause: error });
    return failWith(watched)(error);
  }
}

/** Keeps what was refused beside what was accepted before: both together show who signed what. */
async function convict(
  { fault, message, note: refused }: CheckpointError,
  store: WitnessStore,
  tell: CommandContext['note'],
): Promise<Error> {
  if (refused === undefined || fault === 'malformed' || fault === 'unsigned')
    return new StartupError(`${message} --public-key names the keys that are trusted.`);
  // A first answer that is of another deployment contradicts nothing.
  if ((await store.checkpoint.read()) === undefined) return new StartupError(message);
  await store.refused.write(refused);
  tell(`${message}\nBoth checkpoints are kept: ${store.checkpoint.file} and ${store.refused.file}.`);
  return new CommanderError(DOES_NOT_HOLD, 'orrery.diverged', 'the history does not hold');
}

/** What may be otherwise the next time. */
const isAway = (error: unknown): boolean =>
  error instanceof StartupError
    ? isAway(error.cause)
    : isLate(error) || (error instanceof OrreryError && mayPass(error));

/** Also a page in place of the service, as while it is maintained, and a defect of the service. */
const mayPass = ({ retryable, isUndecided, code, status }: OrreryError): boolean =>
  retryable || isUndecided || (status >= 500 && (code === 'http_error' || code === 'internal'));

const isLate = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';
const LATE = `The server has not answered within ${PATIENCE_MS / 1000} seconds.`;

/** One line: it is told again with each look. */
const textOfAway = ({ message, cause }: StartupError): string =>
  isLate(cause) ? LATE : `The server cannot be asked now: ${message.replace(/\n.*/s, '')}`;

const lineOf = ({ origin, size, rootHash }: Seen): string => `${origin}  ${size}  ${rootHash}`;

const pathOf = ({ worldAddress, address }: CheckpointPath): string =>
  `${worldAddress === undefined ? '/app' : `/api/worlds/${worldAddress}`}/deployments/${address}/head`;
