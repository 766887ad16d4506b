import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { operationNamed, performOperation } from '../operations/perform-operation.js';
import { deploymentsNamed, findDeployment, isReference } from '../operations/references.js';
import { type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import { addCloneCommand } from './clone-command.js';

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
        if (deployment.includes('/')) return switchAsOwner(context, deployment, { ...options, verb });
        if (!isReference(deployment)) throw await noReference(context, deployment, options);
        const { setOperatorPause } = await import('./operator-pause.js');
        return setOperatorPause(context, deployment, paused);
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

async function switchAsOwner(
  context: CommandContext,
  deployment: string,
  { verb, json, ...options }: OwnerOptions & { readonly verb: 'pause' | 'resume' },
): Promise<void> {
  const server = await serverOf(options, context);
  const params = { ...(await findDeployment(server, deployment)) };
  const operation = operationNamed(`deployments.${verb}`);
  await performOperation(operation, { params }, { ...context, json, server });
}
