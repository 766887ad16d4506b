import type { Command } from 'commander';

/** `orrery help schedules run`: commander's own knows one word alone. */
export function addHelpCommand(program: Command): void {
  program
    .command('help')
    .description('show the help of a command')
    .argument('[command...]', 'its words, such as `schedules run`')
    .action((words: readonly string[]) => words.reduce(commandBelow, program).outputHelp());
}

function commandBelow(command: Command, word: string): Command {
  const found = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
  return found ?? command.error(`error: unknown command '${word}'`);
}
