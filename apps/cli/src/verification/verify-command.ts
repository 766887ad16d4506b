import { createOrrery, OrreryError, type VerifiedHistory } from '@orrery/sdk';
import { type Command, CommanderError } from 'commander';
import { type DeploymentReference, findDeployment } from '../operations/references.js';
import { Refusal } from '../server/ask-server.js';
import { type Server, type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import type { CommandContext } from '../terminal/context.js';
import { showVerified } from './show-verified.js';

/** The exit code for a history that does not hold; that it could not be verified is 1. */
const DOES_NOT_HOLD = 2;

interface VerifyFlags extends ServerOptions {
  readonly decisions?: true;
  readonly json?: true;
}

/** `orrery verify`: checks a history on this machine, and takes no word of the server's for it. */
export function addVerifyCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('verify')
    .description('verify the history of a deployment here: its chain, its states, its decisions')
    .argument('<deployment>', 'a deployment as WORLD/DEPLOYMENT, or one of yours alone')
    .option('--decisions', 'also decide every execution again, where its definition may be read');
  withServerOptions(command)
    .option('--json', 'print what was found as JSON')
    .action(async (deployment: string, flags: VerifyFlags) => {
      const server = await serverOf(flags, context);
      const verified = await verify(server, await findDeployment(server, deployment), flags);
      context.write(flags.json === true ? JSON.stringify(verified, null, 2) : showVerified(verified));
      if (!verified.valid)
        throw new CommanderError(DOES_NOT_HOLD, 'orrery.diverged', 'the history does not hold');
    });
}

/** @throws Refusal where the server does not let it read */
async function verify(
  server: Server,
  { worldAddress, address }: DeploymentReference,
  { decisions }: VerifyFlags,
): Promise<VerifiedHistory> {
  try {
    const orrery = createOrrery({ url: server.url, token: server.key });
    return await orrery.deployment(worldAddress, address).verifyHistory({ decisions });
  } catch (error) {
    if (!(error instanceof OrreryError)) throw error;
    const path = `/api/worlds/${worldAddress}/deployments/${address}/history`;
    const { status, code, message, pointers } = error;
    throw new Refusal(server, { method: 'GET', path }, { status, code, error: message, errors: pointers });
  }
}
