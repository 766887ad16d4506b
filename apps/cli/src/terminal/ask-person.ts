import { createInterface } from 'node:readline/promises';
import { StartupError } from '@orrery/service-kit';
import { CommanderError } from 'commander';
import { INTERRUPTED } from './options.js';

/**
 * Asks a person at a terminal. Ctrl-D is no.
 * @throws StartupError where nobody is at it, CommanderError for Ctrl-C
 */
export async function askPerson(
  question: string,
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean },
  output: NodeJS.WritableStream,
): Promise<boolean> {
  if (input.isTTY !== true)
    throw new StartupError('There is nobody to ask: look with --dry-run, then pass --yes.');
  const terminal = createInterface({ input, output });
  const leaving = new AbortController();
  let isInterrupted = false;
  terminal.once('close', () => leaving.abort());
  terminal.once('SIGINT', () => {
    isInterrupted = true;
    terminal.close();
  });
  try {
    const answer = await terminal.question(`${question} [y/N] `, leaving);
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ABORT_ERR') throw error;
    output.write('\n');
    if (isInterrupted) throw new CommanderError(INTERRUPTED, 'orrery.interrupted', 'interrupted');
    return false;
  } finally {
    terminal.close();
  }
}
