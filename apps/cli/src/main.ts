import { ServiceError } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { CommanderError } from 'commander';
import { createProgram } from './program.js';
import { askPerson } from './terminal/ask-person.js';
import { lineWriter } from './terminal/outputs.js';
import { visible } from './terminal/visible.js';

const note = lineWriter(process.stderr, () => {
  process.exitCode = 1;
});
const write = lineWriter(process.stdout, (code) => {
  process.exitCode = 1;
  note(
    `The output cannot be written (${code}): make room. What the command was to change is done all the same.`,
  );
});
const isRead = (): boolean => process.stdout.writable;
const confirm = (question: string) => askPerson(question, process.stdin, process.stderr);

try {
  await createProgram({ env: process.env, write, note, confirm, isRead }).parseAsync(process.argv);
} catch (error) {
  // Commander has already printed its message. Errors of ours say what to do; anything else is a defect.
  if (!(error instanceof CommanderError)) note(visible(lineOf(error)));
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}

function lineOf(error: unknown): string {
  if (error instanceof StartupError || error instanceof ServiceError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
