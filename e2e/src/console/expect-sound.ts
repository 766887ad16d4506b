import axe from 'axe-core';
import { expect } from 'vitest';
import type { WatchedPage } from './console-house.js';

/** Each theme and each width once. axe looks at the page of a phone and of a computer: each look takes half a second. */
const LOOKS = [
  { colorScheme: 'light', width: 768, isWhole: false },
  { colorScheme: 'light', width: 1920, isWhole: false },
  { colorScheme: 'dark', width: 390, isWhole: true },
  { colorScheme: 'light', width: 1280, isWhole: true },
] as const;

/**
 * What every page of the console and of players promises, in light and in dark, wide and narrow: no violation that axe finds, nothing
 * beyond its width, and nothing that the policy refuses. The page must have come to rest: wait for what is seen first.
 */
export async function expectSound(watched: WatchedPage): Promise<void> {
  const { page, faults } = watched;
  await page.evaluate(axe.source);
  for (const { colorScheme, width, isWhole } of LOOKS) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 860 });
    // What is drawn by a script, as a chart is, takes the new width a moment later.
    const taken = () => page.evaluate('document.documentElement.scrollWidth');
    await expect.poll(taken, { message: `width of ${width}` }).toBeLessThanOrEqual(width);
    if (isWhole) expect(await violationsIn(watched), colorScheme).toEqual([]);
  }
  expect(faults).toEqual([]);
}

/** What a page does about its new size, such as letting the keyboard scroll what is wider now, it does while it draws a frame. */
const DRAWN = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))';

/**
 * Colours change by a transition. Only when it has ended does a page look as it is meant to. What a closed part of the page
 * holds is left out: Chromium does not draw it, and does not tell that its transitions have ended.
 */
const SETTLED = `Promise.all(document.getAnimations()
  .filter(({ effect }) => effect?.getTiming().iterations !== Infinity && effect?.target?.checkVisibility())
  .map((one) => one.finished.catch(() => undefined)))`;

async function violationsIn({ page }: WatchedPage): Promise<string[]> {
  await page.evaluate(`${DRAWN}.then(() => ${SETTLED}).then(() => undefined)`);
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ' at ' + node.target.join(' ') + ': ' +
      node.failureSummary)))`);
}
