import { ServiceError } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { CommanderError } from 'commander';
import { createProgram } from './program.js';

const write = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  await createProgram({ env: process.env, write }).parseAsync(process.argv);
} catch (error) {
  // Commander has already printed its message. Errors of ours say what to do; anything else is a defect.
  if (!(error instanceof CommanderError)) process.stderr.write(`${lineOf(error)}\n`);
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}

function lineOf(error: unknown): string {
  if (error instanceof StartupError || error instanceof ServiceError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
