/** What `reference` takes on the quiet machine on which limits were measured, in milliseconds of processor time. */
const QUIET_MS = 5;
/** Work that takes less needs no reference, in milliseconds: every limit is beyond it. */
const QUICK_MS = 40;
const TEXT = 'Straße '.repeat(2000);

/** Texts made and read, as most work whose time is limited. */
function reference(): number {
  let length = 0;
  for (let index = 0; index < 20; index += 1)
    length += [...`${TEXT}${index}`].reverse().join('').toLowerCase().length;
  return length;
}

/** Milliseconds of processor time that this process has spent since: other processes of a busy machine do not count. */
function spentSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function spentBy(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  return spentSince(before);
}

/** How much slower than the quiet machine this one is: slow itself, or busy, so that others use its caches too. */
const slowness = (references: readonly number[]): number => Math.max(1, median(references) / QUIET_MS);

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.POSITIVE_INFINITY;

/** Starts to measure; each call of the result tells what has been spent by now, as `cpuMs` does. */
export function startCpuTime(): () => number {
  const before = process.cpuUsage();
  return () => {
    const spent = spentSince(before);
    return spent < QUICK_MS ? spent : spent / slowness([0, 1, 2].map(() => spentBy(reference)));
  };
}

/** Milliseconds of processor time that `work` would take on a quiet machine. */
export function cpuMs(work: () => unknown): number {
  const spent = startCpuTime();
  work();
  return spent();
}

/** The same, the median of five, with the reference in the same turns. */
export function medianCpuMs(work: () => unknown): number {
  const turns = Array.from({ length: 5 }, () => ({ work: spentBy(work), reference: spentBy(reference) }));
  return median(turns.map((turn) => turn.work)) / slowness(turns.map((turn) => turn.reference));
}

/** The reference is measured so often, in milliseconds: it takes a fiftieth of the time. */
const PACE_MS = 250;

function wallMs(work: () => unknown): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

/**
 * Measures the machine until it is disposed of: `slowness()` is how many times longer than on a quiet machine the reference
 * has taken at most, on the wall's clock. A bound of time on that clock is multiplied with it: what waits for processors or
 * is slow itself then refuses nothing.
 */
export function startPace(): Disposable & { readonly slowness: () => number } {
  let slowest = 1;
  const measure = () => {
    slowest = Math.max(slowest, wallMs(reference) / QUIET_MS);
  };
  measure();
  const timer = setInterval(measure, PACE_MS);
  return {
    slowness: () => {
      measure();
      return slowest;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
