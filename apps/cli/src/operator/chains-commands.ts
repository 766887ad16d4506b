import type { Command } from 'commander';
import type { CommandContext } from '../terminal/context.js';
import type { DeployCommand } from './set-up-chains.js';

/** Loaded when a command needs it: so no other waits for the chains' libraries. */
const work = () => import('./set-up-chains.js');

/** `orrery chains deploy|check|waiting|adopt`, for operators. They read `CHAINS_FILE` and the signers' keys as the service does. */
export function addChainsCommands(program: Command, context: CommandContext): void {
  const chains = program.command('chains').description('set up and check the chains of CHAINS_FILE');
  const chain = ['--chain <name>', 'the chain, by its name in CHAINS_FILE'] as const;
  chains
    .command('deploy')
    .description("deploy the registry contract with the chain's signer, and print its address")
    .requiredOption(...chain)
    .option(
      '--owner <address>',
      "who owns the contract and names its pushers; the chain's signer unless given",
    )
    .option('--json', 'print { "contract": "0x…" }')
    .action(async (options: DeployCommand) => (await work()).deploy(context, options));
  chains
    .command('check')
    .description('tell for each chain whether pushes can be sent to it')
    .option('--json', 'print an array')
    .action(async (options: { json?: true }) => (await work()).check(context, options));
  chains
    .command('waiting')
    .description(
      'list transactions that no block holds yet, and deployments whose pushes stand still, with the reason',
    )
    .option('--json', 'print an array')
    .action(async (options: { json?: true }) => (await work()).waiting(context, options));
  chains
    .command('adopt')
    .description("let a deployment's pushes go on after the number that the chain has")
    .requiredOption('--deployment <address>', 'the deployment, by its address')
    .requiredOption(...chain)
    .action(async (options: { chain: string; deployment: string }) => (await work()).adopt(context, options));
}
