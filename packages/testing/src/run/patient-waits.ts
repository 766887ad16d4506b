import { vi } from 'vitest';

/** How long a test waits for what becomes true by itself, in milliseconds, unless it says otherwise. */
const PATIENCE_MS = 120_000;

/**
 * Vitest's setup for each file: `vi.waitFor` and `vi.waitUntil` give up after a second otherwise, which a busy machine
 * spends elsewhere. Files of one worker share `vi`, so a second run changes nothing.
 */
const { waitFor, waitUntil } = vi;
const patient = <Options extends object>(options: number | Options | undefined) =>
  typeof options === 'number' ? options : { timeout: PATIENCE_MS, ...options };

if (waitFor.name !== 'waitPatiently') {
  vi.waitFor = function waitPatiently(check, options) {
    return waitFor(check, patient(options));
  };
  vi.waitUntil = function waitPatiently(check, options) {
    return waitUntil(check, patient(options));
  };
}
