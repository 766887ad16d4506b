import MiniSearch from 'minisearch';
import type { Entry } from './entries.js';

export interface Found extends Entry {
  readonly terms: readonly string[];
}

/** Finds parts of pages by their words: beginnings of words and near misses count, headings most. */
export function createFinder(entries: readonly Entry[]): (words: string, limit: number) => Found[] {
  const index = new MiniSearch<Entry>({
    fields: ['heading', 'page', 'text'],
    storeFields: ['url', 'page', 'heading', 'text'],
    tokenize,
    searchOptions: {
      boost: { heading: 5, page: 2 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
      // Decisions explain; who searches mostly wants to do something.
      boostDocument: (_id, _term, stored) => (String(stored?.['url']).startsWith('/docs/adr') ? 0.4 : 1),
    },
  });
  index.addAll(entries);
  return (words, limit) => index.search(words).slice(0, limit) as unknown as Found[];
}

/** Words, and the parts of names: `worldsCreate` is found by `create`, `payer_may_call` by `payer`. */
const tokenize = (text: string): string[] => [
  ...text.split(/[^\p{L}\p{N}_$-]+/u).filter((word) => word !== ''),
  ...(text.match(/[a-z]+(?=[A-Z])|[A-Z][a-z]+|[\p{L}\p{N}]+(?=[_-])|(?<=[_-])[\p{L}\p{N}]+/gu) ?? []),
];

/** A text around the first of the words, of about `length` characters. */
export function excerpt(text: string, terms: readonly string[], length = 150): string {
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...(places.length === 0 ? [0] : places)) - 40);
  const cut = text.slice(from, from + length);
  return `${from > 0 ? '…' : ''}${cut}${from + length < text.length ? '…' : ''}`;
}
