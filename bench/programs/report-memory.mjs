// Loaded into a process with `--import` and `--expose-gc`: at each SIGUSR2 it writes what the process holds after a
// collection of all garbage, in bytes, to a file with its number in the folder HELD_MEMORY.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const report = () => {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  const file = join(process.env.HELD_MEMORY, String(process.pid));
  writeFileSync(`${file}.new`, String(heapUsed + external));
  renameSync(`${file}.new`, file);
};
if (isMainThread) process.on('SIGUSR2', report);
