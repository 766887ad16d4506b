import type { CompletionWords } from './completion-words.js';

export type Shell = 'bash' | 'zsh';

/**
 * A script that completes commands and options of `orrery`; where neither fits, names of files. It holds all words, so no
 * key press starts a program.
 */
export const completionScript = (shell: Shell, rows: readonly CompletionWords[]): string =>
  `${shell === 'bash' ? HEAD_BASH : HEAD_ZSH}${WORDS(rows)}${shell === 'bash' ? BASH : ZSH}`;

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
