import { cpuMs } from '../src/cpu-time.test-support.js';

/** What `reference` takes on the quiet machine on which the limits were measured, in milliseconds of processor time. */
const QUIET_MS = 5;
const TEXT = 'Straße '.repeat(2000);

/** Texts made and read, as most work of an evaluation. */
function reference(): number {
  let length = 0;
  for (let index = 0; index < 20; index += 1)
    length += [...`${TEXT}${index}`].reverse().join('').toLowerCase().length;
  return length;
}

/**
 * Milliseconds of processor time that `work` would take on a quiet machine, the median of five: on a busy one, whose caches
 * others use too, a reference takes longer in the same turns.
 */
export function medianCpuMs(work: () => unknown): number {
  const turns = Array.from({ length: 5 }, () => ({ work: cpuMs(work), reference: cpuMs(reference) }));
  const slowness = Math.max(1, median(turns.map((turn) => turn.reference)) / QUIET_MS);
  return median(turns.map((turn) => turn.work)) / slowness;
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.POSITIVE_INFINITY;
