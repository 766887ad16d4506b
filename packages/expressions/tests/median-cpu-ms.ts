import { cpuMs } from '../src/cpu-time.test-support.js';

/** CPU milliseconds of `work`: the median of five. */
export function medianCpuMs(work: () => unknown): number {
  const times = Array.from({ length: 5 }, () => cpuMs(work)).sort((a, b) => a - b);
  return times[2] ?? Number.POSITIVE_INFINITY;
}
