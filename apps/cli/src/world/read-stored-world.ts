import type { EntitySchemaRecord, EventRecord, VersionRecord, WorldRecord } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { listAll } from '../operations/references.js';
import { askOrFail } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';
import { type StoredWorld, toEventDefinition, toSchemaDefinition, toWorldDefinition } from './definitions.js';

/** Reads all definitions of a world, of each event those of its latest version. @throws StartupError for another's world */
export async function readStoredWorld(server: Server, reference: string): Promise<StoredWorld> {
  const { data } = await askOrFail(server, 'GET', `/worlds/${reference}`);
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
  };
}

async function latestVersionOf(
  server: Server,
  world: string,
  { name, latestVersion }: EventRecord,
): Promise<VersionRecord | undefined> {
  if (latestVersion === null) return undefined;
  const path = `${world}/events/${encodeURIComponent(name)}/event-versions/${latestVersion}`;
  return (await askOrFail(server, 'GET', path)).data as VersionRecord;
}
