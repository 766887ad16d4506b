import type { PushState } from '../api/pushes.js';
import { defined, nameIn, pageIn, wordIn } from '../ui/search-values.js';
import { STATES } from './push-words.js';

/** What the address of the page holds. */
export interface PushesSearch {
  chain?: string | undefined;
  state?: PushState | undefined;
  page?: number | undefined;
}

export const readPushesSearch = (search: Record<string, unknown>): PushesSearch =>
  defined({
    chain: nameIn(search['chain']),
    state: wordIn(search['state'], STATES),
    page: pageIn(search['page']),
  });
