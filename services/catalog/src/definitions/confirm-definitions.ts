import type { definitionRpcs, ReplyOf, RequestOf } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import type { CatalogContext, CatalogDatabase } from '../context.js';
import { compareHashes, type State } from './compare-hashes.js';
import { CONFIRM_SCHEMAS, CONFIRM_VERSIONS } from './confirm-statements.js';
import { findSchemaDefinitions, findVersionDefinitions, findWorldTexts } from './load-definitions.js';

type Asked = RequestOf<(typeof definitionRpcs)['definitions.confirm']>;
type Answer = ReplyOf<(typeof definitionRpcs)['definitions.confirm']>;
type Context = Pick<CatalogContext, 'db' | 'pool'>;

/**
 * Says of each definition whether what the asker remembers still holds, in the order asked. Each answer stands for
 * itself and is younger than its question; unless something changed, a kind that is asked is one statement.
 */
export async function confirmDefinitions(context: Context, asked: Asked): Promise<Answer> {
  const [versions, schemas, worlds] = await Promise.all([
    confirmVersions(context, asked.versions),
    confirmSchemas(context, asked.schemas),
    confirmWorlds(context.db, asked.worlds),
  ]);
  return { versions, schemas, worlds };
}

async function confirmVersions({ pool, db }: Context, asked: Asked['versions']): Promise<Answer['versions']> {
  const states = await compareHashes(pool, CONFIRM_VERSIONS, asked);
  const ids = changedOf(asked, states).map(({ versionId }) => versionId);
  if (ids.length === 0) return states.map((state) => answer(state));
  // A draft and its schemas are read by two statements: one snapshot for both.
  const isolation = 'repeatable read';
  const now = await transaction(db, (trx) => findVersionDefinitions(trx, ids), { isolation });
  return asked.map(({ versionId }, index) => answer(states[index], now.get(versionId)));
}

async function confirmSchemas({ pool, db }: Context, asked: Asked['schemas']): Promise<Answer['schemas']> {
  const states = await compareHashes(pool, CONFIRM_SCHEMAS, asked);
  const now = await findSchemaDefinitions(db, changedOf(asked, states));
  return asked.map((schema, index) => answer(states[index], now(schema)));
}

/** Asked rarely: the texts are read whole, and hashed. */
async function confirmWorlds(db: CatalogDatabase, asked: Asked['worlds']): Promise<Answer['worlds']> {
  const now = await findWorldTexts(
    db,
    asked.map(({ worldId }) => worldId),
  );
  return asked.map(({ worldId, hash }) => {
    const texts = now.get(worldId);
    return answer(texts?.hash === hash ? 'same' : 'changed', texts);
  });
}

const changedOf = <T>(asked: readonly T[], states: readonly State[]): T[] =>
  asked.filter((_, index) => states[index] === 'changed');

/** What changed and then was no longer found is gone. */
function answer<T>(state: State | undefined, definition?: T) {
  if (state === 'same') return { state };
  return state === 'changed' && definition !== undefined ? { state, definition } : { state: 'gone' as const };
}
