import axe from 'axe-core';
import { expect } from 'vitest';
import type { WatchedPage } from './watch-page.js';

/**
 * What every page of the console promises, in light and in dark: no violation that axe finds, all of it within 390
 * pixels of width, and nothing that the policy refuses. The page must have come to rest: wait for what is seen first.
 */
export async function expectSound(watched: WatchedPage): Promise<void> {
  const { page, faults } = watched;
  await page.evaluate(axe.source);
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await violationsIn(watched), colorScheme).toEqual([]);
  }
  const size = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate('document.documentElement.scrollWidth'), 'width').toBeLessThanOrEqual(390);
  expect(await violationsIn(watched), 'narrow').toEqual([]);
  if (size !== null) await page.setViewportSize(size);
  expect(faults).toEqual([]);
}

/** Colours change by a transition. Only when it has ended does a page look as it is meant to. */
const SETTLED = `Promise.all(document.getAnimations().filter((one) => one.effect?.getTiming().iterations !== Infinity)
  .map((one) => one.finished.catch(() => undefined)))`;

async function violationsIn({ page }: WatchedPage): Promise<string[]> {
  await page.evaluate(`${SETTLED}.then(() => undefined)`);
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ' at ' + node.target.join(' ') + ': ' +
      node.failureSummary)))`);
}
