import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { operationNamed, performOperation } from '../operations/perform-operation.js';
import { findDeployment } from '../operations/references.js';
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
      .action(async (deployment: string, options: OwnerOptions) =>
        deployment.includes('/')
          ? switchAsOwner(context, deployment, { ...options, verb })
          : (await import('./operator-pause.js')).setOperatorPause(context, deployment, paused),
      );
  }
  addCloneCommand(deployments, context);
}

interface OwnerOptions extends ServerOptions {
  readonly json?: true;
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
