import { VERSION } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { Command } from 'commander';
import { addCompletionCommand, addHelpCommand } from './completion/completion.js';
import { addDemoCommand } from './demo/demo-command.js';
import { addDeploymentsCommands } from './deployments/deployments-commands.js';
import { addInstanceMappingCommands } from './deployments/instance-mapping.js';
import { addStreamCommand } from './deployments/stream-command.js';
import { addEventsCommands } from './events/events-commands.js';
import { addKeysCommands } from './keys/keys-commands.js';
import { addOperationsCommands } from './operations/operations-commands.js';
import { addAccountsCommands, addConsoleCommand } from './operator/accounts-commands.js';
import { addChainsCommands } from './operator/chains-commands.js';
import { addDatabaseCommands } from './operator/database-commands.js';
import { addDatabasesCommands } from './operator/databases-commands.js';
import { addDeadLettersCommands } from './operator/dead-letters-commands.js';
import { addPartitionsCommands } from './operator/partitions-commands.js';
import { addPublicCommands } from './public/public-commands.js';
import { takeServerOptionsEarly } from './server/find-server.js';
import { Refusal } from './server/refusal.js';
import type { CommandContext } from './terminal/context.js';
import { visible } from './terminal/visible.js';
import { addVerifyCommand } from './verification/verify-command.js';
import { addWitnessCommand } from './verification/witness-command.js';
import { addWalletsCommands } from './wallets/wallet-file.js';
import { addReplayCommand } from './what-if/replay-command.js';
import { addWorldCommands } from './world/world-commands.js';

/** The command `orrery`. */
export function createProgram(given: CommandContext): Command {
  const context = shownIn(given);
  const program = new Orrery('orrery')
    .description('Build worlds and operate Orrery, the simulation world service')
    .version(VERSION, '-V, --version', 'print the version of this command')
    .configureHelp({ showGlobalOptions: false })
    .exitOverride();
  addConsoleCommand(program, context);
  addWorldCommands(program, context);
  addDatabaseCommands(program, context);
  addDatabasesCommands(program, context);
  addDeploymentsCommands(program, context);
  addInstanceMappingCommands(program, context);
  addEventsCommands(program, context);
  addKeysCommands(program, context);
  addChainsCommands(program, context);
  addDeadLettersCommands(program, context);
  addPartitionsCommands(program, context);
  // What is there already is kept.
  addOperationsCommands(program, context);
  addStreamCommand(program, context);
  addReplayCommand(program, context);
  addVerifyCommand(program, context);
  addWitnessCommand(program, context);
  addAccountsCommands(program, context);
  addPublicCommands(program, context);
  addWalletsCommands(program, context);
  addDemoCommand(program, context);
  addCompletionCommand(program, context);
  addHelpCommand(program);
  takeServerOptionsEarly(program);
  showUsageAfterErrors(program);
  return program;
}

/** What players and servers wrote does nothing to a terminal. */
const shownIn = ({ write, note, confirm, ...context }: CommandContext): CommandContext => ({
  ...context,
  write: (line) => write(visible(line)),
  note: (line) => note(visible(line)),
  confirm: (question) => confirm(visible(question)),
});

/** Whatever a command does, `--json` holds for a refusal, too. */
class Orrery extends Command {
  override async parseAsync(...args: Parameters<Command['parseAsync']>): Promise<this> {
    let isForPrograms = false;
    this.hook('preAction', (_, command) => {
      isForPrograms = command.opts()['json'] === true;
    });
    try {
      return await super.parseAsync(...args);
    } catch (error) {
      if (!(error instanceof StartupError)) throw error;
      const isDocument = isForPrograms && error instanceof Refusal;
      const text = isDocument ? JSON.stringify(error, null, 2) : error.message;
      throw new StartupError(visible(text), { cause: error });
    }
  }
}

/** What is missing or not known in a line is shown with the form of the line. */
function showUsageAfterErrors(command: Command): void {
  const usage = command.createHelp().commandUsage(command);
  command.showHelpAfterError(`usage: ${usage}   (--help shows more)`);
  for (const below of command.commands) showUsageAfterErrors(below);
}
