import { text as readAll } from 'node:stream/consumers';
import { CheckpointError, createOrrery, type Orrery, OrreryError, type VerifiedHistory } from '@orrery/sdk';
import { StartupError } from '@orrery/service-kit';
import { type Command, CommanderError } from 'commander';
import { readGivenFile } from '../documents/read-document.js';
import { replaceText } from '../documents/replace-text.js';
import { type DeploymentReference, findDeployment } from '../operations/references.js';
import { type Server, type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import { failureOf } from '../server/refusal.js';
import type { CommandContext } from '../terminal/context.js';
import { showVerified } from './show-verified.js';

/** The exit code for a history that does not hold; that it could not be verified is 1. */
const DOES_NOT_HOLD = 2;

interface VerifyFlags extends ServerOptions {
  readonly decisions?: true;
  readonly checkpoint?: string;
  readonly publicKey: readonly string[];
  readonly save?: string;
  readonly json?: true;
}

/** `orrery verify`: checks a history on this machine, and takes no word of the server's for it. */
export function addVerifyCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('verify')
    .description('verify the history of a deployment here: its chain, its states, its decisions')
    .argument('<deployment>', 'a deployment as WORLD/DEPLOYMENT, or one of yours alone')
    .option('--decisions', 'also decide every execution again, where its definition may be read')
    .option(
      '--checkpoint <file>',
      'a checkpoint that was kept, `-` for the input: the history has to begin with it',
    )
    .option(
      '--public-key <key>',
      'a public key of the operator, may be repeated; without it those that the server names',
      (key: string, before: readonly string[]) => [...before, key],
      [],
    )
    .option('--save <file>', 'where the checkpoint of now is kept if the history holds');
  withServerOptions(command)
    .option('--json', 'print what was found as JSON')
    .action(async (deployment: string, flags: VerifyFlags) => {
      const server = await serverOf(flags, context);
      const kept = flags.checkpoint === undefined ? undefined : await readKept(flags.checkpoint);
      const verified = await verify(server, await findDeployment(server, deployment), kept, flags, context);
      const { save, json } = flags;
      context.write(json === true ? JSON.stringify(verified, null, 2) : showVerified(verified, kept));
      if (verified.valid && save !== undefined && verified.signed)
        await replaceText(save, verified.signed.note, '--save names another file.');
      if (!verified.valid)
        throw new CommanderError(DOES_NOT_HOLD, 'orrery.diverged', 'the history does not hold');
    });
}

const readKept = (file: string): Promise<string> =>
  file === '-'
    ? readAll(process.stdin)
    : readGivenFile(file, 'give a file that --save or `orrery witness` has written.');

/** @throws Refusal where the server does not let it read, StartupError for a checkpoint that is none of this journal */
async function verify(
  server: Server,
  path: DeploymentReference,
  checkpoint: string | undefined,
  flags: VerifyFlags,
  context: CommandContext,
): Promise<VerifiedHistory> {
  const { worldAddress, address } = path;
  const { decisions, publicKey, save } = flags;
  try {
    const orrery = createOrrery({ url: server.url, token: server.key });
    const isSigned = checkpoint !== undefined || save !== undefined || publicKey.length > 0;
    const keys = isSigned ? await keysOf(orrery, path, publicKey, context) : undefined;
    return await orrery.deployment(worldAddress, address).verifyHistory({ decisions, keys, checkpoint });
  } catch (error) {
    if (error instanceof CheckpointError) {
      const advice = error.fault === 'unsigned' ? ' --public-key names the keys that are trusted.' : '';
      throw new StartupError(`${error.message}${advice}`, { cause: error });
    }
    if (error instanceof TypeError) throw new StartupError(error.message, { cause: error });
    if (!(error instanceof OrreryError)) throw error;
    const asked = `/api/worlds/${worldAddress}/deployments/${address}/history`;
    throw failureOf(server, { method: 'GET', path: asked }, error);
  }
}

/** Those that are given or, said so, those that the server names: it could name others for a past that it forges. */
async function keysOf(
  orrery: Orrery,
  path: DeploymentReference,
  given: readonly string[],
  { note }: CommandContext,
): Promise<readonly string[]> {
  if (given.length > 0) return given;
  const { keys } = await orrery.get('/api/worlds/{worldAddress}/deployments/{address}/head', { path });
  note(`It trusts ${keys.join(', ')}, as the server says: --public-key names what the operator tells.`);
  return keys;
}
