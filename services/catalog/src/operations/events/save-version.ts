import type { FieldProblem, VersionBody } from '@orrery/contracts';
import { checkVersion, writeVersion } from '../../core/checks/check-version.js';
import { priceOf, priceWarnings } from '../../core/checks/version-warnings.js';
import {
  EMPTY_VERSION,
  type StoredVersion,
  schemasInTemplate,
  schemasNamed,
} from '../../core/definitions/stored-version.js';
import { below, refuseProblems } from '../../core/problems.js';
import { claimantsOf } from '../../store/claims/claim-store.js';
import { takeNumber } from '../../store/events/event-store.js';
import { addLinks, insertVersion, removeLinks, replaceDefinition } from '../../store/events/version-store.js';
import { holdSchemas } from '../../store/schemas/schema-store.js';
import type { EntitySchemaRow, EventRow, VersionRow } from '../../store/tables/schema.js';
import { namesIn } from '../../store/worlds/world-members.js';
import type { Change } from '../operation.js';

interface PreparedVersion {
  readonly definition: StoredVersion;
  /** The schemas to link it to. */
  readonly links: readonly EntitySchemaRow[];
  readonly warnings: readonly FieldProblem[];
}

/**
 * Merges a body into the current version, checks the result and locks the schemas that it names. Those in the keys of its
 * template must exist too. They are locked as well, so a deletion that waits sees the template, and are not linked:
 * docs/catalog.md says what the hashes of a version cover.
 */
async function prepare(
  { trx, now, limits }: Change,
  worldId: number,
  current: StoredVersion,
  body: VersionBody,
  pointer: string,
): Promise<PreparedVersion> {
  const written = writeVersion(current, body, limits.versionBytes, pointer);
  const { definition } = written;
  const linked = schemasNamed(definition);
  const names = new Set([...linked, ...schemasInTemplate(definition)]);
  const named = await holdSchemas(trx, worldId, [...names]);
  const known = named.length < names.size ? await namesIn(trx, 'entity_schemas', worldId) : [];
  const { kinds, warnings } = checkVersion(written, { named, known }, now.getTime());
  refuseProblems(kinds, pointer);
  const links = named.filter(({ name }) => linked.includes(name));
  return { definition, links, warnings: below(pointer, warnings) };
}

/** A version as it was written, and the likely mistakes in it that are allowed. */
export interface SavedVersion {
  readonly version: VersionRow;
  readonly warnings: readonly FieldProblem[];
}

/** The next version of an event that is held `editing` (or new). `pointer`: pointer to the body in the request. */
export async function insertNewVersion(
  change: Change,
  event: EventRow,
  body: VersionBody,
  pointer = '',
): Promise<SavedVersion> {
  const { trx, now, limits } = change;
  const prepared = await prepare(change, event.world_id, EMPTY_VERSION, body, pointer);
  const number = await takeNumber(trx, event.id, limits.versionsPerEvent);
  const version = await insertVersion(trx, event.id, number, prepared.definition, now);
  await addLinks(trx, version.id, prepared.links);
  return { version, warnings: prepared.warnings };
}

/** Changes a version that is held `editing` and is not locked. */
export async function changeVersion(
  change: Change,
  worldId: number,
  current: VersionRow,
  body: VersionBody,
): Promise<SavedVersion> {
  const { trx, now } = change;
  const { definition, links, warnings } = await prepare(change, worldId, current.definition, body, '');
  const version = await replaceDefinition(trx, current.id, definition, now);
  await removeLinks(trx, current.id);
  await addLinks(trx, current.id, links);
  const isPriced = priceOf(definition) > priceOf(current.definition);
  const users = isPriced ? await claimantsOf(trx, 'version', current.id) : [];
  return { version, warnings: [...warnings, ...priceWarnings(definition, users)] };
}
