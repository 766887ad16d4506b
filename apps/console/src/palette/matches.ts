/** Something that the palette leads to. */
export interface Item {
  /** Of all items. */
  readonly key: string;
  /** `World`, `Event` … */
  readonly kind: string;
  readonly label: string;
  /** Where it is: the world of an event. */
  readonly detail?: string | undefined;
  readonly go: () => void;
}

/** Items that are shown. */
const MOST_SHOWN = 40;

/** The items that have all words of a text, the best first. Without a text all, in their order. */
export function ranked(items: readonly Item[], text: string): Item[] {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const scored = items.flatMap((item, at) => {
    const score = scoreOf(item, words);
    return score === undefined ? [] : [{ item, score, at }];
  });
  return scored
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, MOST_SHOWN)
    .map(({ item }) => item);
}

/** The higher the better; undefined where a word is missing. A word at the beginning of the label counts most. */
function scoreOf({ label, kind, detail = '' }: Item, words: readonly string[]): number | undefined {
  const name = label.toLowerCase();
  const others = `${kind} ${detail}`.toLowerCase();
  let score = 0;
  for (const word of words) {
    if (name.startsWith(word)) score += 4;
    else if (name.split(/[\s_\-:.]+/).some((part) => part.startsWith(word))) score += 3;
    else if (name.includes(word)) score += 2;
    else if (others.includes(word)) score += 1;
    else return undefined;
  }
  return score;
}
