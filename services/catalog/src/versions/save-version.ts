import type { FieldProblem, VersionBody } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { claimantsOf } from '../claims/claim-store.js';
import type { CatalogLimits } from '../config.js';
import { nowOf, type Trx } from '../database/db.js';
import type { EventRow, VersionRow } from '../database/schema.js';
import { takeNumber } from '../events/event-store.js';
import { refuseOversize, versionProblems } from './check-version.js';
import { mergeVersion } from './merge-version.js';
import { below } from './problem-places.js';
import { readSpellings } from './read-spellings.js';
import { refuseProblems } from './refuse-problems.js';
import { EMPTY_VERSION, type StoredVersion } from './stored-version.js';
import { linkNamedSchemas } from './version-schemas.js';
import { insertVersion, replaceDefinition } from './version-store.js';
import { priceOf, priceWarnings, versionWarnings } from './version-warnings.js';

/** What checking and writing a version needs. */
export interface SaveDependencies {
  readonly clock: Clock;
  readonly limits: CatalogLimits;
}

/** Merges a body into the current version, checks the result and locks the schemas that it names. */
async function prepare(
  context: SaveDependencies,
  trx: Trx,
  worldId: number,
  current: StoredVersion,
  body: VersionBody,
  pointer: string,
) {
  const definition = mergeVersion(current, readSpellings(body, pointer));
  refuseOversize(definition, context.limits.versionBytes, pointer);
  const found = versionProblems(definition, context.clock.now());
  const spelling = body.stateChanges === undefined ? 'stateChangeSchema' : 'stateChanges';
  const { link, schemas, problems } = await linkNamedSchemas(trx, worldId, definition, spelling);
  refuseProblems([...found, ...problems], pointer);
  return { definition, link, warnings: below(pointer, versionWarnings(definition, schemas)) };
}

/** A version as it was written, and the likely mistakes in it that are allowed. */
export interface SavedVersion {
  readonly version: VersionRow;
  readonly warnings: readonly FieldProblem[];
}

/** The next version of an event that is held `numbering` (or new). `pointer`: pointer to the body in the request. */
export async function insertNewVersion(
  context: SaveDependencies,
  trx: Trx,
  event: EventRow,
  body: VersionBody,
  pointer = '',
): Promise<SavedVersion> {
  const { definition, link, warnings } = await prepare(
    context,
    trx,
    event.world_id,
    EMPTY_VERSION,
    body,
    pointer,
  );
  const number = await takeNumber(trx, event.id, context.limits.versionsPerEvent);
  const version = await insertVersion(trx, event.id, number, definition, nowOf(context));
  await link(version.id);
  return { version, warnings };
}

/** Changes a version that is held `editing` and is not locked. */
export async function changeVersion(
  context: SaveDependencies,
  trx: Trx,
  worldId: number,
  current: VersionRow,
  body: VersionBody,
): Promise<SavedVersion> {
  const { definition, link, warnings } = await prepare(context, trx, worldId, current.definition, body, '');
  const version = await replaceDefinition(trx, current.id, definition, nowOf(context));
  await link(version.id);
  const isPriced = priceOf(definition) > priceOf(current.definition);
  const users = isPriced ? await claimantsOf(trx, 'version', current.id) : [];
  return { version, warnings: [...warnings, ...priceWarnings(definition, users)] };
}
