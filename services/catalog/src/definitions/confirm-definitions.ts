import type { definitionRpcs, ReplyOf, RequestOf } from '@orrery/contracts';
import type { CatalogTransaction } from '../context.js';
import { toSchemaDefinition } from '../entity-schemas/schema-rules.js';
import { toWorldTexts } from './definition-rules.js';
import { findVersionDefinitions } from './load-definitions.js';

type Asked = RequestOf<(typeof definitionRpcs)['definitions.confirm']>;
type Answer = ReplyOf<(typeof definitionRpcs)['definitions.confirm']>;

/** Says of each definition whether what the asker remembers still holds; one snapshot, in the order asked. */
export async function confirmDefinitions(trx: CatalogTransaction, asked: Asked): Promise<Answer> {
  return {
    versions: await confirmVersions(trx, asked.versions),
    schemas: await confirmSchemas(trx, asked.schemas),
    worlds: await confirmWorlds(trx, asked.worlds),
  };
}

function compare<T extends { hash: string }>(remembered: string, now: T | undefined) {
  if (now === undefined) return { state: 'gone' as const };
  return now.hash === remembered
    ? { state: 'same' as const }
    : { state: 'changed' as const, definition: now };
}

async function confirmVersions(
  trx: CatalogTransaction,
  asked: Asked['versions'],
): Promise<Answer['versions']> {
  const found = await findVersionDefinitions(
    trx,
    asked.map(({ versionId }) => versionId),
  );
  return asked.map(({ versionId, hash }) => compare(hash, found.get(versionId)));
}

async function confirmSchemas(trx: CatalogTransaction, asked: Asked['schemas']): Promise<Answer['schemas']> {
  if (asked.length === 0) return [];
  const rows = await trx
    .selectFrom('entity_schemas')
    .select(['id', 'world_id', 'name', 'definition', 'hash'])
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('world_id', 'name'),
        'in',
        asked.map(({ worldId, name }) => tuple(worldId, name)),
      ),
    )
    .execute();
  return asked.map(({ worldId, name, hash }) => {
    const row = rows.find((schema) => schema.world_id === worldId && schema.name === name);
    return compare(hash, row && toSchemaDefinition(row));
  });
}

async function confirmWorlds(trx: CatalogTransaction, asked: Asked['worlds']): Promise<Answer['worlds']> {
  if (asked.length === 0) return [];
  const ids = asked.map(({ worldId }) => worldId);
  const rows = await trx.selectFrom('worlds').selectAll().where('id', 'in', ids).execute();
  return asked.map(({ worldId, hash }) => {
    const row = rows.find(({ id }) => id === worldId);
    return compare(hash, row && toWorldTexts(row));
  });
}
