import { defined, nameIn } from '../ui/search-values.js';

/** What the address of the page holds. */
export interface NewDeploymentSearch {
  /** The deployment to clone, by id or address. */
  source?: string | undefined;
  /** The entry of its journal after which its instances are copied; absent: as they are now. */
  seq?: number | undefined;
}

export function readNewDeploymentSearch({ source, seq }: Record<string, unknown>): NewDeploymentSearch {
  return defined({
    source: nameIn(source),
    seq: Number.isSafeInteger(seq) && Number(seq) > 0 ? Number(seq) : undefined,
  });
}
