import { readFileSync } from 'node:fs';
import { type Environment, EnvironmentError, StartupError } from '@orrery/service-kit';

/** What a variable with keys holds, for those who set it. */
export const KEYS_FORM =
  'keys of 64 hex digits, separated by commas or in lines of their own, the newest first';

/** Keys of 32 bytes, in their order. Undefined: what stands there are no keys. */
export function parseKeys(text: string): readonly Buffer[] | undefined {
  const keys = text.split(/[\s,]+/).filter((part) => part !== '');
  return keys.every((key) => /^[\da-f]{64}$/i.test(key))
    ? keys.map((key) => Buffer.from(key, 'hex'))
    : undefined;
}

/**
 * The keys of a variable, or of the file whose path stands in the variable with `_FILE` after its name; none where neither is
 * set. @throws EnvironmentError, or StartupError for a file that cannot be read
 */
export function readKeys(env: Environment, variable: string): readonly Buffer[] {
  const file = env[`${variable}_FILE`];
  const keys = parseKeys(env[variable] || (file ? contentsOf(file, variable) : ''));
  // Never the value: it may be a key with a typing error.
  if (keys === undefined) throw new EnvironmentError([`${variable} (not valid; expected ${KEYS_FORM})`]);
  return keys;
}

/** @throws StartupError */
export function contentsOf(path: string, variable: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code;
    throw new StartupError(
      `The file of ${variable}_FILE cannot be read (${reason}): correct its path or its permissions.`,
      { cause: error },
    );
  }
}
