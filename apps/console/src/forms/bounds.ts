import type { Bounds } from './fields.js';

/** What is said of a number outside its bounds; undefined within them. `unit`: what it counts, such as characters. */
export function whyOutside(number: number, bounds: Bounds = {}, unit = ''): string | undefined {
  const { least, most, above, below } = bounds;
  const say = (words: string, bound: number) => `${`Give ${words} ${bound} ${unit}`.trim()}.`;
  if (least !== undefined && number < least) return say('at least', least);
  if (most !== undefined && number > most) return say('at most', most);
  if (above !== undefined && number <= above) return say('more than', above);
  if (below !== undefined && number >= below) return say('less than', below);
  return undefined;
}
