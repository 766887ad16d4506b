import { createInterface } from 'node:readline/promises';
import { ServiceError } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { CommanderError } from 'commander';
import { createProgram } from './program.js';

// Who reads a pipe may leave first, as `head` does: a command that changes something goes on to its end.
for (const output of [process.stdout, process.stderr])
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
const isRead = (): boolean => process.stdout.writable;

const write = (line: string): void => void process.stdout.write(`${line}\n`);
const note = (line: string): void => void process.stderr.write(`${line}\n`);

async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new StartupError('There is nobody to ask: look with --dry-run, then pass --yes.');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `).finally(() => terminal.close());
  return /^y(es)?$/i.test(answer.trim());
}

try {
  await createProgram({ env: process.env, write, note, confirm, isRead }).parseAsync(process.argv);
} catch (error) {
  // Commander has already printed its message. Errors of ours say what to do; anything else is a defect.
  if (!(error instanceof CommanderError)) note(lineOf(error));
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}

function lineOf(error: unknown): string {
  if (error instanceof StartupError || error instanceof ServiceError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
