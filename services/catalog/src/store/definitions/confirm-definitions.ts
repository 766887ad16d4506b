import type {
  definitionRpcs,
  ReplyOf,
  RequestOf,
  SchemaDefinition,
  SharingVersion,
  VersionDefinition,
} from '@orrery/contracts';
import { ConnectionLost, classifyPostgresError, transaction } from '@orrery/database';
import type { Db, Pool } from '../tables/db.js';
import { findSchemaDefinitions, findVersionDefinitions, findWorldTexts } from './load-definitions.js';

/** What a confirmation needs. */
export interface ConfirmDependencies {
  readonly db: Db;
  readonly pool: Pool;
}

type Asked = RequestOf<(typeof definitionRpcs)['definitions.confirm']>;
type Answer = ReplyOf<(typeof definitionRpcs)['definitions.confirm']>;

/**
 * Says of each definition whether the hash that the caller has cached is still current, in the order of the request.
 * Every answer is read after its request arrived. Unless something changed, each kind takes one statement.
 */
export async function confirmDefinitions(context: ConfirmDependencies, asked: Asked): Promise<Answer> {
  const load = startLoad(asked.sharing === true);
  const [versions, schemas, worlds] = await Promise.all([
    confirmVersions(context, asked.versions, load),
    confirmSchemas(context, asked.schemas, load),
    confirmWorlds(context.db, asked.worlds, load),
  ]);
  return { versions, schemas, worlds, ...(asked.sharing && { sharedSchemas: load.schemas }) };
}

async function confirmVersions(
  { pool, db }: ConfirmDependencies,
  asked: Asked['versions'],
  load: Load,
): Promise<Answer['versions']> {
  const states = await compareHashes(pool, CONFIRM_VERSIONS, asked);
  // A draft and its schemas are read by two statements: one snapshot for both.
  const isolation = 'repeatable read';
  const read = async (some: Asked['versions']) => {
    const ids = some.map(({ versionId }) => versionId);
    const now = await transaction(db, (trx) => findVersionDefinitions(trx, ids), { isolation });
    return ({ versionId }: Asked['versions'][number]) => now.get(versionId);
  };
  return answersTo(asked, states, load, read, load.version);
}

async function confirmSchemas(
  { pool, db }: ConfirmDependencies,
  asked: Asked['schemas'],
  load: Load,
): Promise<Answer['schemas']> {
  const states = await compareHashes(pool, CONFIRM_SCHEMAS, asked);
  return answersTo(asked, states, load, (some) => findSchemaDefinitions(db, some), load.other);
}

/** Rarely called: reads the whole texts and hashes them. */
async function confirmWorlds(db: Db, asked: Asked['worlds'], load: Load): Promise<Answer['worlds']> {
  const read = async (some: Asked['worlds']) => {
    const now = await findWorldTexts(
      db,
      some.map(({ worldId }) => worldId),
    );
    return ({ worldId }: Asked['worlds'][number]) => now.get(worldId);
  };
  const unknown = asked.map(() => 'changed' as const);
  return answersTo(asked, unknown, load, read, (texts, { hash }) =>
    texts.hash === hash ? { state: 'same' } : load.other(texts),
  );
}

/** Definitions that are read at once: the schemas of a world can have megabytes, and each may be of another world. */
const READ_AT_ONCE = 25;

/**
 * Reads what changed, piece by piece until the reply is full; the rest is answered `later`. A definition that changed
 * and is then no longer found is gone.
 */
async function answersTo<Item extends object, Definition, Told>(
  asked: readonly Item[],
  states: readonly State[],
  load: Load,
  read: (some: Item[]) => Promise<(item: Item) => Definition | undefined>,
  tell: (definition: Definition, item: Item) => Told,
) {
  const changed = asked.filter((_, index) => states[index] === 'changed');
  const told = new Map<Item, Told | { state: 'gone' }>();
  for (let at = 0; at < changed.length && !load.isFull; at += READ_AT_ONCE) {
    const some = changed.slice(at, at + READ_AT_ONCE);
    const now = await read(some);
    for (const item of some) {
      const definition = now(item);
      told.set(item, definition === undefined ? { state: 'gone' } : tell(definition, item));
    }
  }
  return asked.map((item, index) => {
    const state = states[index] ?? 'gone';
    return state === 'changed' ? (told.get(item) ?? LATER) : { state };
  });
}

/**
 * One row for each question in `$1`, in order: `same`, `changed` or `gone`. The text is constant, and the planner's
 * estimate of rows made from JSON does not depend on them, so it is planned once. `now` is one look-up per question.
 */
const answering = (columns: string, now: string) => `
with question as materialized (
  select q.ordinality, q.hash, (${now}) as now
  from rows from (jsonb_to_recordset($1::jsonb) as (${columns})) with ordinality as q
)
select case when now is null then 'gone' when now = hash then 'same' else 'changed' end
from question order by ordinality`;

/**
 * `now` is `definitionHash` over the rows in the statement's snapshot, which is taken after the question arrived. The
 * transaction that writes a draft links it to exactly the schemas that it names, and a linked schema is neither renamed
 * nor deleted. So every change of a definition changes `now`. (`coalesce`, because `concat_ws` omits nulls.)
 */
const CONFIRM_VERSIONS = {
  name: 'confirm-versions',
  text: answering(
    '"versionId" bigint, hash text',
    `
    select encode(sha256(convert_to(concat_ws(e'\\n', v.id, v.definition_hash, coalesce(case
      when v.locked_at is not null then 'locked ' || v.version_hash
      when v.uses_all_schemas then (
        select string_agg(s.id || ':' || s.hash, ',' order by s.id) from entity_schemas s
        where s.world_id = (select e.world_id from events e where e.id = v.event_id)
      )
      else (
        select string_agg((select s.id || ':' || s.hash from entity_schemas s where s.id = l.schema_id), ','
          order by l.schema_id) from version_schemas l where l.version_id = v.id
      )
    end, ''), (select e.name from events e where e.id = v.event_id)), 'UTF8')), 'hex')
    from event_versions v where v.id = q."versionId"`,
  ),
};

/** A schema's hash is stored together with its name and attributes. */
const CONFIRM_SCHEMAS = {
  name: 'confirm-schemas',
  text: answering(
    '"worldId" bigint, name text, hash text',
    'select s.hash from entity_schemas s where s.world_id = q."worldId" and s.name = q.name',
  ),
};

type State = 'same' | 'changed' | 'gone';

interface Statement {
  readonly name: string;
  readonly text: string;
}

/** The state of each question, in one round trip; no questions take none. It only reads, so it needs no transaction. */
async function compareHashes(
  pool: Pool,
  statement: Statement,
  questions: readonly object[],
): Promise<State[]> {
  if (questions.length === 0) return [];
  const values = [JSON.stringify(questions)];
  try {
    const { rows } = await pool.query<[State]>({ ...statement, values, rowMode: 'array' });
    return rows.map(([state]) => state);
  } catch (error) {
    if (classifyPostgresError(error).kind !== 'unknown_outcome') throw error;
    throw new ConnectionLost('the connection was lost while definitions were compared', { cause: error });
  }
}

/**
 * Bytes of definitions in a reply, beyond the first one. The bus carries 32 MiB, and the largest definition that an
 * operator can allow has about 17 MiB.
 */
const MOST_BYTES = 8 * 1024 * 1024;

/** Bytes of definitions that are read for a reply: those of locked versions hold copies of schemas, which are carried once. */
const MOST_READ = 64 * 1024 * 1024;

const LATER = { state: 'later' as const };

const bytesOf = (content: object): number => Buffer.byteLength(JSON.stringify(content));

/** A schema that changes has another hash. */
const keyOf = ({ schemaId, hash }: SchemaDefinition): string => `${schemaId} ${hash}`;

type Load = ReturnType<typeof startLoad>;

/**
 * The definitions that one reply carries. For a caller that reads them so, each schema is in it once, and what has no room
 * is left for the next call: versions of one world would else repeat its schemas, and strangers share a reply.
 */
function startLoad(isSharing: boolean) {
  const schemas: SchemaDefinition[] = [];
  const places = new Map<string, number>();
  const sizes: number[] = [];
  let bytes = 0;
  let read = 0;
  let isFull = false;
  /** The first one is always taken, so that every call gets further. */
  const take = (more: number): boolean => {
    isFull ||= bytes > 0 && bytes + more > MOST_BYTES;
    if (!isFull) bytes += more;
    return !isFull;
  };
  const other = <T extends object>(definition: T) => {
    const hasRoom = !isSharing || (!isFull && take(bytesOf(definition)));
    return hasRoom ? { state: 'changed' as const, definition } : LATER;
  };
  const shared = (version: VersionDefinition) => {
    if (isFull) return LATER;
    const named = Object.values(version.schemas);
    const added = named.filter((schema) => !places.has(keyOf(schema)));
    const longest = named.map(() => schemas.length + named.length);
    const size = bytesOf({ ...version, schemas: longest }) + bytesOf(added);
    if (!take(size)) return LATER;
    for (const schema of added) {
      sizes.push(bytesOf(schema));
      places.set(keyOf(schema), schemas.push(schema) - 1);
    }
    for (const schema of named) read += sizes[places.get(keyOf(schema)) ?? 0] ?? 0;
    isFull = read > MOST_READ;
    const definition: SharingVersion = {
      ...version,
      schemas: named.map((schema) => places.get(keyOf(schema)) ?? 0),
    };
    return { state: 'shared' as const, definition };
  };
  return {
    schemas,
    get isFull() {
      return isFull;
    },
    version: (version: VersionDefinition) => (isSharing ? shared(version) : other(version)),
    /** A schema on its own, or the texts of a world. */
    other,
  };
}
