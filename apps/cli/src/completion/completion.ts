import { Argument, type Command } from 'commander';
import type { CommandContext } from '../terminal/context.js';

/**
 * `orrery completion bash|zsh`: a script that completes commands and options of `orrery`; where neither fits, names of
 * files. It holds all words, so no key press starts a program.
 */
export function addCompletionCommand(program: Command, { write }: CommandContext): void {
  program
    .command('completion')
    .description('print a script that completes commands and options')
    .addArgument(new Argument('<shell>', 'source <(orrery completion bash)').choices(['bash', 'zsh']))
    .action((shell: 'bash' | 'zsh') => {
      const [head, completion] = SCRIPTS[shell];
      write(`${head}${WORDS(rowsOf(program))}${completion}`.trimEnd());
    });
}

/** What may follow a command. */
interface CompletionWords {
  /** The words that lead to the command, joined by spaces; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly string[];
  readonly options: readonly string[];
}

/** A row for every command below one, under all of its names. */
function rowsOf(command: Command, path: readonly string[] = []): CompletionWords[] {
  const namesOf = (one: Command) => [one.name(), ...one.aliases()];
  const own = {
    path: path.join(' '),
    commands: command.commands.flatMap(namesOf),
    options: [...command.options.map(({ long }) => long ?? ''), '--help'],
  };
  const rows = command.commands.flatMap((one) =>
    namesOf(one).flatMap((name) => rowsOf(one, [...path, name])),
  );
  return [own, ...rows];
}

/** Words of the command line lead from row to row as long as they are commands; anything else is an argument. */
const WORDS = (rows: readonly CompletionWords[]): string => `
_orrery_words() {
  case "$1" in
${rows.map(({ path, commands, options }) => `    '${path}') _orrery_commands='${commands.join(' ')}' _orrery_options='${options.join(' ')}' ;;`).join('\n')}
    *) return 1 ;;
  esac
}
`;

const HEAD_BASH = `# Completion of orrery for bash: source <(orrery completion bash)
`;

const BASH = `
_orrery() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' word next _orrery_commands _orrery_options
  _orrery_words ''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    _orrery_words "$next" && path="$next"
  done
  _orrery_words "$path"
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$_orrery_options" -- "$current"))
  elif [[ -n "$_orrery_commands" ]]; then
    COMPREPLY=($(compgen -W "$_orrery_commands" -- "$current"))
  else
    COMPREPLY=()
  fi
}
complete -o default -F _orrery orrery
`;

const HEAD_ZSH = `#compdef orrery
# Completion of orrery for zsh: source <(orrery completion zsh), after compinit
`;

const ZSH = `
_orrery() {
  local current="\${words[CURRENT]}" line='' word next _orrery_commands _orrery_options
  _orrery_words ''
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next="\${line:+$line }$word"
    _orrery_words "$next" && line="$next"
  done
  _orrery_words "$line"
  if [[ "$current" == -* ]]; then
    compadd -- \${=_orrery_options}
  elif [[ -n "$_orrery_commands" ]]; then
    compadd -- \${=_orrery_commands}
  else
    _files
  fi
}
compdef _orrery orrery
`;

const SCRIPTS = { bash: [HEAD_BASH, BASH], zsh: [HEAD_ZSH, ZSH] } as const;

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
