import { createProgram } from '@orrery/cli/program';
import type { Command } from 'commander';
import type { ApiAnswer } from '../api/api-client.js';

/** What a command left. */
export interface Outcome {
  readonly failed: boolean;
  /** What it would end its process with. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command `orrery`, in this process: to start one each time would take most of a test's time. */
export interface CommandLine {
  /** @throws Error with its error output when it fails */
  run(...args: string[]): Promise<string>;
  /** The data that it prints with `--json`. */
  json(...args: string[]): Promise<ApiAnswer['body']>;
  /** Whatever becomes of it. */
  end(...args: string[]): Promise<Outcome>;
}

/**
 * @param env where it finds its server, such as `ORRERY_DATA_DIR`
 * @param confirm what a person answers
 */
export function commandLine(env: Record<string, string>, confirm = async () => false): CommandLine {
  const end = async (...args: string[]): Promise<Outcome> => {
    const [out, err]: [string[], string[]] = [[], []];
    const write = (line: string) => void out.push(`${line}\n`);
    const note = (line: string) => void err.push(`${line}\n`);
    const program = createProgram({ env, write, note, confirm });
    for (const command of allCommands(program))
      command.exitOverride().configureOutput({ writeErr: (text) => void err.push(text) });
    const code = await program.parseAsync(args, { from: 'user' }).then(
      () => 0,
      (error: Error & { readonly exitCode?: number }) => {
        note(error.message);
        return error.exitCode ?? 1;
      },
    );
    return { failed: code !== 0, code, stdout: out.join(''), stderr: err.join('') };
  };
  const run = async (...args: string[]): Promise<string> => {
    const { failed, stdout, stderr } = await end(...args);
    if (failed) throw new Error(`orrery ${args.join(' ')} failed: ${stderr}`);
    return stdout;
  };
  return { end, run, json: async (...args) => JSON.parse(await run(...args, '--json')) };
}

const allCommands = (command: Command): Command[] => [command, ...command.commands.flatMap(allCommands)];
