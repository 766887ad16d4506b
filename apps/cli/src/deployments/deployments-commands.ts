import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import { performNamed } from '../operations/perform-operation.js';
import { deploymentsNamed, findDeployment, isReference } from '../operations/references.js';
import { type Server, type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import type { CommandContext } from '../terminal/context.js';
import { wholeNumber } from '../terminal/options.js';

/**
 * `orrery deployments pause|resume` as its owner, over the API, and as the operator, in the database; and
 * `orrery deployments clone`. The owner of a deployment cannot lift the operator's pause.
 */
export function addDeploymentsCommands(program: Command, context: CommandContext): void {
  const deployments = program.command('deployments');
  const switches = [
    ['pause', 'stop all executions of a deployment', true],
    ['resume', 'undo `pause`; a pause by somebody else stays', false],
  ] as const;
  for (const [verb, description, paused] of switches) {
    const command = deployments
      .command(verb)
      .description(description)
      .argument('<deployment>', 'WORLD/DEPLOYMENT: as its owner; its address or id alone: as the operator');
    withServerOptions(command)
      .option('--json', 'print the data as JSON')
      .action(async (deployment: string, options: OwnerOptions) => {
        const asOwner = async (server: Server) => ({
          params: { ...(await findDeployment(server, deployment)) },
        });
        if (deployment.includes('/')) return performNamed(`deployments.${verb}`, asOwner, options, context);
        if (!isReference(deployment)) throw await noReference(context, deployment, options);
        const { setOperatorPause } = await import('../operator/operator-pause.js');
        return setOperatorPause(context, deployment, paused, options);
      });
  }
  addCloneCommand(deployments, context);
}

interface OwnerOptions extends ServerOptions {
  readonly json?: true;
}

/** A name alone could be meant either way, and the two pauses differ in who can end them. */
async function noReference(
  context: CommandContext,
  name: string,
  options: ServerOptions,
): Promise<StartupError> {
  // Without a server there is nothing to suggest.
  const found = await serverOf(options, context)
    .then((server) => deploymentsNamed(server, name))
    .catch(() => []);
  const meant = found.length === 0 ? '' : `: ${found.map((one) => `"${one}"`).join(', ')}`;
  return new StartupError(
    `"${name}" alone says too little. As its owner write WORLD/DEPLOYMENT${meant}; as the operator give its address or id.`,
  );
}

interface CloneOptions extends OwnerOptions {
  readonly atSeq?: number;
}

/** `orrery deployments clone`, also named `fork`: a new deployment with the instances and bindings of another. */
function addCloneCommand(deployments: Command, context: CommandContext): void {
  const command = deployments
    .command('clone')
    .alias('fork')
    .description('create a deployment as a copy of another, as that is now or as it was')
    .argument('<deployment>', 'the one that is copied, as WORLD/DEPLOYMENT, or one of yours alone')
    .argument('<name>', 'the name of the new one')
    .option('--at-seq <number>', 'copy it as it was after this entry of its journal', wholeNumber);
  withServerOptions(command)
    .option('--json', 'print the data as JSON')
    .action((deployment: string, name: string, { atSeq, ...options }: CloneOptions) => {
      const copy = async (server: Server) => {
        const { worldAddress, address: sourceDeployment } = await findDeployment(server, deployment);
        const seq = atSeq === undefined ? {} : { sourceSeq: atSeq };
        const body = { name, bindings: [], sourceDeployment, ...seq };
        return { params: { worldAddress }, body };
      };
      return performNamed('deployments.create', copy, options, context);
    });
}
