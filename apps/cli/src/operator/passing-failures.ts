import { classifyPostgresError } from '@orrery/database';
import { StartupError } from '@orrery/service-kit';

/** Failures that say nothing of what is done: a database went away, or had no time. */
const PASSING: readonly string[] = ['unavailable', 'unknown_outcome', 'conflict', 'timeout'];

/** For commands that find in the databases what is done already. */
export function asAdvice(error: unknown): unknown {
  if (error instanceof StartupError || !PASSING.includes(classifyPostgresError(error).kind)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StartupError(
    `A database went away, or did not answer in time (${reason}): run it again, it goes on from where it was.`,
    { cause: error },
  );
}
