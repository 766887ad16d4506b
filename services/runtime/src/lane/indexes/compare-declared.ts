import type { Clock } from '@orrery/service-kit';
import {
  beginDeclared,
  type ClaimedPlace,
  type Declared,
  dropUndeclared,
} from '../../store/state/declared-indexes.js';
import type { Db } from '../../store/tables/schema.js';
import type { CatalogClient } from '../catalog/catalog-client.js';

interface CompareOptions {
  readonly db: Db;
  readonly catalog: Pick<CatalogClient, 'declaredIndexes'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Rows that a statement looks at, so that none takes long. */
  readonly atOnce?: number;
  /** How long a round goes on where the catalog says what it said before, in milliseconds. */
  readonly roundMs?: number;
}

/**
 * Compares, in rounds, the indexes of these partitions with what is declared. What has changed in the catalog is followed
 * everywhere at once. Otherwise only deployments that are new lack an index: a round looks for them for a bounded time, and
 * the next one goes on where it ended.
 */
export function createComparison({ db, catalog, clock, atOnce = 5000, roundMs = 500 }: CompareOptions) {
  let followed: string | undefined;
  let claimed: ClaimedPlace | undefined;
  let kept: number | undefined;
  return async (partitions: readonly number[], signal: AbortSignal): Promise<void> => {
    const declared = await readDeclared(catalog);
    const wanted = JSON.stringify([partitions, [...declared]]);
    const isNew = wanted !== followed;
    if (isNew) [claimed, kept] = [undefined, undefined];
    const until = clock.monotonic() + roundMs;
    const goesOn = () => !signal.aborted && (isNew || clock.monotonic() < until);
    const comparison = { declared, partitions, atOnce };
    kept = await pages(kept, (after) => dropUndeclared(db, comparison, after), goesOn);
    if (declared.size > 0)
      claimed = await pages(claimed, (after) => beginDeclared(db, comparison, after), goesOn);
    if (!signal.aborted) followed = wanted;
  };
}

async function readDeclared(catalog: CompareOptions['catalog']): Promise<Declared> {
  const declared = new Map<number, readonly string[]>();
  for (let after: number | null = 0; after !== null; ) {
    const { schemas, next } = await catalog.declaredIndexes(after);
    for (const { schemaId, attributes } of schemas) declared.set(schemaId, attributes);
    after = next;
  }
  return declared;
}

/** Answers from where the next round goes on; `undefined`: from the beginning. */
async function pages<Place>(
  from: Place | undefined,
  step: (after: Place | undefined) => Promise<Place | undefined>,
  goesOn: () => boolean,
): Promise<Place | undefined> {
  let after = from;
  do after = await step(after);
  while (after !== undefined && goesOn());
  return after;
}
