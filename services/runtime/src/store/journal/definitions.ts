import type { KeptDefinition, VersionDefinition } from '@orrery/contracts';
import { jsonb } from '@orrery/database';
import type { Db } from '../tables/schema.js';

/** What the hash of a version covers (docs/history.md "Definitions"), and what it names. */
export const keptDefinition = ({
  worldId: _world,
  eventId: _event,
  versionId: _id,
  version: _number,
  isLocked: _locked,
  hash: _hash,
  event,
  versionHash,
  schemas,
  ...content
}: VersionDefinition): KeptDefinition => ({
  event,
  versionHash,
  ...content,
  schemas: Object.fromEntries(
    Object.entries(schemas).map(([name, { attributes, hash }]) => [name, { name, attributes, hash }]),
  ),
});

/** Keeps a definition for ever. What is kept already stays: the same hash is the same definition. */
export async function keepDefinition(db: Db, definition: VersionDefinition): Promise<void> {
  await db
    .insertInto('definitions')
    .values({
      world_id: definition.worldId,
      hash: definition.versionHash,
      definition: jsonb(keptDefinition(definition)),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** A definition of the world that was executed; undefined: none of this hash. */
export async function findDefinition(
  db: Db,
  worldId: number,
  hash: string,
): Promise<KeptDefinition | undefined> {
  const row = await db
    .selectFrom('definitions')
    .select('definition')
    .where('world_id', '=', worldId)
    .where('hash', '=', hash)
    .executeTakeFirst();
  return row?.definition;
}
