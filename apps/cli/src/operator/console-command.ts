import type { Command } from 'commander';
import { type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import type { CommandContext } from '../terminal/context.js';

/** `orrery console`: a link that opens the console signed in. */
export function addConsoleCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('console')
    .description(
      'print a link that signs a browser on this machine in to the console, once and within 60 seconds',
    );
  withServerOptions(command).action(async (options: ServerOptions) => {
    const server = await serverOf(options, context);
    // Loaded when it is needed: no other command waits for the database's driver.
    const { printSignInLink } = await import('./accounts-and-keys.js');
    await printSignInLink(server, context);
  });
}
