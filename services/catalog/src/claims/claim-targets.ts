import { type FieldProblem, fieldProblem, MAX_PROBLEMS, ServiceError } from '@orrery/contracts';
import type { Trx } from '../database/db.js';
import type { EntitySchemaRow, WorldRow } from '../database/schema.js';
import { noSuchSchema, schemaNames } from '../entity-schemas/schema-names.js';
import { eventNames, noSuchEvent } from '../events/event-store.js';
import { lastVersions, noSuchVersion } from '../versions/version-store.js';

/** The largest value of the column, which no event reaches. */
const NO_VERSION = 2_147_483_647;

/** An event's version as a binding names it. */
export interface VersionName {
  event: string;
  version: number;
}

/** Locks a world against deletion. It is locked first, as deletions do. */
export const holdWorldById = (trx: Trx, worldId: number): Promise<WorldRow | undefined> =>
  trx.selectFrom('worlds').selectAll().where('id', '=', worldId).forKeyShare().executeTakeFirst();

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
    const numbers = await lastVersions(trx, events.get(event) ?? 0);
    const message = noSuchVersion(`The event "${event}"`, version, numbers);
    return fieldProblem(`/${index}/eventVersion`, 'unknown_event_version', message);
  });
  return ids.filter((id) => id !== undefined);
}

/** Ids by name. */
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
  const found = names.map(({ event }) => ids.get(event));
  let known: Promise<string[]> | undefined;
  await refuse('unknown_event', found, async (index) => {
    known ??= eventNames(trx, worldId);
    const message = noSuchEvent(names[index]?.event ?? '', await known);
    return fieldProblem(`/${index}/event`, 'unknown_event', message);
  });
  return ids;
}

/** Schemas by name, locked against deletion and renaming. @throws ServiceError `unknown_entity_schema`. */
export async function holdSchemasNamed(
  trx: Trx,
  worldId: number,
  names: readonly string[],
): Promise<EntitySchemaRow[]> {
  if (names.length === 0) return [];
  const rows = await trx
    .selectFrom('entity_schemas')
    .selectAll()
    .where('world_id', '=', worldId)
    .where('name', 'in', [...names])
    .orderBy('id')
    .forKeyShare()
    .execute();
  const found = names.map((name) => rows.find((row) => row.name === name));
  let known: Promise<string[]> | undefined;
  await refuse('unknown_entity_schema', found, async (index) => {
    known ??= schemaNames(trx, worldId);
    const message = noSuchSchema(names[index] ?? '', await known);
    return fieldProblem(`/${index}`, 'unknown_entity_schema', message);
  });
  return found.filter((row) => row !== undefined);
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
