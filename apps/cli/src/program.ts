import { Command } from 'commander';
import { addAccountsCommands } from './accounts/accounts-commands.js';
import type { CommandContext } from './command-context.js';
import { addDemoCommand } from './demo/demo-command.js';
import { addDeploymentsCommands } from './deployments/deployments-commands.js';
import { addKeysCommands } from './keys/keys-commands.js';

/** The command `orrery`. */
export function createProgram(context: CommandContext): Command {
  const program = new Command('orrery')
    .description('Operate Orrery, the simulation world service')
    .exitOverride();
  addAccountsCommands(program, context);
  addDeploymentsCommands(program, context);
  addKeysCommands(program, context);
  addDemoCommand(program, context);
  return program;
}
