import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { operationNamed, performOperation } from '../operations/perform-operation.js';
import { findDeployment } from '../operations/references.js';
import { type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';

interface CloneOptions extends ServerOptions {
  readonly atSeq?: string;
  readonly json?: true;
}

/** `orrery deployments clone`, also named `fork`: a new deployment with the instances and bindings of another. */
export function addCloneCommand(deployments: Command, context: CommandContext): void {
  const command = deployments
    .command('clone')
    .alias('fork')
    .description('create a deployment as a copy of another, as that is now or as it was')
    .argument('<deployment>', 'the one that is copied, as WORLD/DEPLOYMENT, or one of yours alone')
    .argument('<name>', 'the name of the new one')
    .option('--at-seq <number>', 'copy it as it was after this entry of its journal');
  withServerOptions(command)
    .option('--json', 'print the data as JSON')
    .action(async (deployment: string, name: string, { atSeq, json, ...options }: CloneOptions) => {
      const server = await serverOf(options, context);
      const { worldAddress, address: sourceDeployment } = await findDeployment(server, deployment);
      const seq = atSeq === undefined ? {} : { sourceSeq: Number(atSeq) };
      const body = { name, bindings: [], sourceDeployment, ...seq };
      const request = { params: { worldAddress }, body };
      await performOperation(operationNamed('deployments.create'), request, { ...context, json, server });
    });
}
