import type { Page } from 'playwright-core';

/** Bytes of the objects of a page that are reachable, and its nodes. */
export interface PageMemory {
  readonly bytes: number;
  readonly nodes: number;
}

/** Reads what a page holds once what nobody reaches is collected. */
export async function pageMemory(page: Page): Promise<PageMemory> {
  const session = await page.context().newCDPSession(page);
  try {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize: bytes } = await session.send('Runtime.getHeapUsage');
    const { nodes } = await session.send('Memory.getDOMCounters');
    return { bytes, nodes };
  } finally {
    await session.detach();
  }
}

/** Part of the samples at the beginning that are left out: caches fill. */
const WARMING_UP = 0.2;
const MEBIBYTE = 2 ** 20;
/** A sample may differ by this, in bytes, whatever the page does. */
const NOISE = 6 * MEBIBYTE;

/** How much more the last third of the samples holds than the first one after the warming up; by their medians. */
export function growthOf(samples: readonly PageMemory[]): {
  readonly bytes: number;
  readonly isFlat: boolean;
} {
  const warm = samples.slice(Math.floor(samples.length * WARMING_UP)).map(({ bytes }) => bytes);
  const third = Math.max(1, Math.floor(warm.length / 3));
  const [first, last] = [medianOf(warm.slice(0, third)), medianOf(warm.slice(-third))];
  return { bytes: last - first, isFlat: last - first <= Math.max(NOISE, first * 0.15) };
}

const medianOf = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
