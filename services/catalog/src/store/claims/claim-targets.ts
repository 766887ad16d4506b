import { type FieldProblem, fieldProblem, MAX_PROBLEMS, ServiceError } from '@orrery/contracts';
import { noSuchVersion } from '../events/version-store.js';
import { holdSchemas } from '../schemas/schema-store.js';
import type { Trx } from '../tables/db.js';
import type { EntitySchemaRow } from '../tables/schema.js';
import { type Members, namesIn, noSuchMember } from '../worlds/world-members.js';

/** The largest value of the column, which no event reaches. */
const NO_VERSION = 2_147_483_647;

/** An event's version as a binding names it. */
export interface VersionName {
  event: string;
  version: number;
}

/**
 * Ids of the named versions, in order, locked against deletion; their events are locked against renaming.
 *
 * @throws ServiceError `unknown_event` or `unknown_event_version`, with a pointer for each that does not exist.
 */
export async function holdVersionsNamed(
  trx: Trx,
  worldId: number,
  names: readonly VersionName[],
): Promise<number[]> {
  if (names.length === 0) return [];
  const events = await holdEventsNamed(trx, worldId, names);
  const versions = await trx
    .selectFrom('event_versions')
    .select(['id', 'event_id', 'version'])
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('event_id', 'version'),
        'in',
        names.map(({ event, version }) =>
          tuple(events.get(event) ?? 0, Math.max(0, Math.min(version, NO_VERSION))),
        ),
      ),
    )
    .orderBy('id')
    .forKeyShare()
    .execute();
  const ids = names.map(
    ({ event, version }) =>
      versions.find((row) => row.event_id === events.get(event) && row.version === version)?.id,
  );
  await refuse('unknown_event_version', ids, async (index) => {
    const { event, version } = names[index] ?? { event: '', version: 0 };
    const message = await noSuchVersion(trx, events.get(event) ?? 0, `The event "${event}"`, version);
    return fieldProblem(`/${index}/eventVersion`, 'unknown_event_version', message);
  });
  return ids.filter((id) => id !== undefined);
}

async function holdEventsNamed(
  trx: Trx,
  worldId: number,
  names: readonly VersionName[],
): Promise<Map<string, number>> {
  const rows = await trx
    .selectFrom('events')
    .select(['id', 'name'])
    .where('world_id', '=', worldId)
    .where(
      'name',
      'in',
      names.map(({ event }) => event),
    )
    .orderBy('id')
    .forKeyShare()
    .execute();
  const ids = new Map(rows.map(({ id, name }) => [name, id]));
  const asked = names.map(({ event }) => event);
  await refuseUnknown(trx, worldId, 'events', asked, ids);
  return ids;
}

/** Schemas by name, locked against deletion and renaming. @throws ServiceError `unknown_entity_schema`. */
export async function holdSchemasNamed(
  trx: Trx,
  worldId: number,
  names: readonly string[],
): Promise<EntitySchemaRow[]> {
  const rows = await holdSchemas(trx, worldId, names);
  const byName = new Map(rows.map((row) => [row.name, row]));
  await refuseUnknown(trx, worldId, 'entity_schemas', names, byName);
  return names.flatMap((name) => byName.get(name) ?? []);
}

const UNKNOWN = {
  events: { code: 'unknown_event', pointer: (index: number) => `/${index}/event` },
  entity_schemas: { code: 'unknown_entity_schema', pointer: (index: number) => `/${index}` },
} as const;

async function refuseUnknown(
  trx: Trx,
  worldId: number,
  members: Members,
  names: readonly string[],
  found: ReadonlyMap<string, unknown>,
): Promise<void> {
  const { code, pointer } = UNKNOWN[members];
  let known: Promise<string[]> | undefined;
  const present = names.map((name) => found.get(name));
  await refuse(code, present, async (index) => {
    known ??= namesIn(trx, members, worldId);
    const message = noSuchMember(members, names[index] ?? '', await known);
    return fieldProblem(pointer(index), code, message);
  });
}

async function refuse(
  code: 'unknown_event' | 'unknown_event_version' | 'unknown_entity_schema',
  found: readonly unknown[],
  problem: (index: number) => Promise<FieldProblem>,
): Promise<void> {
  const missing = found.flatMap((item, index) => (item === undefined ? [index] : []));
  const errors: FieldProblem[] = [];
  for (const index of missing.slice(0, MAX_PROBLEMS)) errors.push(await problem(index));
  if (errors.length > 0) throw new ServiceError(code, errors[0]?.message, { errors });
}
