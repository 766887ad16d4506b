import type { Command, Option } from 'commander';

/** What may follow a command, and the options whose value is one of a few. */
export interface CompletionWords {
  /** The words that lead to the command, joined by spaces; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly string[];
  readonly options: readonly string[];
}

/** A row for every command of a program, under all of its names. */
export function completionWords(program: Command): CompletionWords[] {
  return rowsOf(program, []);
}

function rowsOf(command: Command, path: readonly string[]): CompletionWords[] {
  const below = command.commands;
  const own = {
    path: path.join(' '),
    commands: below.flatMap((one) => [one.name(), ...one.aliases()]),
    options: [...command.options.map(longOf), '--help'],
  };
  const rows = below.flatMap((one) =>
    [one.name(), ...one.aliases()].flatMap((name) => rowsOf(one, [...path, name])),
  );
  return [own, ...rows];
}

const longOf = ({ long }: Option): string => long ?? '';
