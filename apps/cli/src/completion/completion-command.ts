import { Argument, type Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { completionScript, type Shell } from './completion-script.js';
import { completionWords } from './completion-words.js';

/** `orrery completion bash|zsh`. */
export function addCompletionCommand(program: Command, { write }: CommandContext): void {
  program
    .command('completion')
    .description('print a script that completes commands and options')
    .addArgument(new Argument('<shell>', 'source <(orrery completion bash)').choices(['bash', 'zsh']))
    .action((shell: Shell) => write(completionScript(shell, completionWords(program)).trimEnd()));
}
