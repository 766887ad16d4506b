import {
  type EntitySchemaRecord,
  type EventRecord,
  tagged,
  type VersionRecord,
  type WorldRecord,
} from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { listAll } from '../operations/references.js';
import { askAt, filledPath } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';
import { attributePlace, eventPlace, type Place, schemaPlace, versionPlace } from './change-requests.js';
import { type StoredWorld, toEventDefinition, toSchemaDefinition, toWorldDefinition } from './definitions.js';

/** Reads all definitions of a world, of each event those of its latest version. @throws StartupError for another's world */
export async function readStoredWorld(server: Server, reference: string): Promise<StoredWorld> {
  const { data } = await askAt(server, 'GET', `/worlds/${reference}`);
  const record = data as WorldRecord;
  // Only its owner sees it.
  if (record.promptSeed === undefined)
    throw new StartupError(
      `The world "${record.name}" is not yours: its prompts and templates are not shown.`,
    );
  const path = `/worlds/${record.address}`;
  const schemas = await listAll<EntitySchemaRecord>(server, `${path}/entity-schemas`);
  const events = await listAll<EventRecord>(server, `${path}/events`);
  const versions = new Map<string, VersionRecord>();
  for (const event of events) {
    const latest = await latestVersionOf(server, path, event);
    if (latest !== undefined) versions.set(event.name, latest);
  }
  return {
    address: record.address,
    world: toWorldDefinition(record),
    schemas: schemas.map(toSchemaDefinition),
    events: events.map((event) => toEventDefinition(event, versions.get(event.name))),
    latest: versions,
    tags: tagsOf(record, schemas, events, versions),
  };
}

/** The tags are computed of what was read: lists have no `ETag` for each thing in them. */
function tagsOf(
  world: WorldRecord,
  schemas: readonly EntitySchemaRecord[],
  events: readonly EventRecord[],
  versions: ReadonlyMap<string, VersionRecord>,
): Map<string, string> {
  const records: [Place, object][] = [
    [{ path: '' }, world],
    ...schemas.map((schema): [Place, object] => [schemaPlace(schema.name), schema]),
    ...schemas.flatMap(({ name, attributes }) =>
      attributes.map((attribute): [Place, object] => [attributePlace(name, attribute.name), attribute]),
    ),
    ...events.map((event): [Place, object] => [eventPlace(event.name), event]),
    ...[...versions].map(([event, one]): [Place, object] => [versionPlace(event, one.version), one]),
  ];
  return new Map(records.map(([place, record]) => [filledPath(place), tagged(record).etag]));
}

async function latestVersionOf(
  server: Server,
  world: string,
  { name, latestVersion }: EventRecord,
): Promise<VersionRecord | undefined> {
  if (latestVersion === null) return undefined;
  const path = `${world}/events/${encodeURIComponent(name)}/event-versions/${latestVersion}`;
  return (await askAt(server, 'GET', path)).data as VersionRecord;
}
