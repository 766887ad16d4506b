import type {
  AttributeConstraints,
  AttributeDefinition,
  AttributeType,
  JsonValue,
  SchemaDefinition,
} from '@orrery/contracts';
import type { ColumnType, Generated, Selectable } from 'kysely';
import type { ClaimKind } from '../../core/claims.js';
import type { StoredVersion } from '../../core/definitions/stored-version.js';

type Derived<T> = ColumnType<T, never, never>;
type Id = Derived<number>;
/** Written as `Date`, from the process's clock. */
interface Times {
  created_at: ColumnType<Date, Date, never>;
  updated_at: Date;
}

interface WorldsTable extends Times {
  id: Id;
  address: string;
  owner_account_id: number;
  name: string;
  description: string | null;
  domain_tags: string[];
  prompt_seed: string | null;
  is_public: Generated<boolean>;
  schema_count: Generated<number>;
  event_count: Generated<number>;
  /** Bytes of the definitions of all its schemas. A version without a mode map contains all of them. */
  schema_bytes: Generated<number>;
}

/** The row with `account_id` 0 counts the public worlds of all accounts; its other counters are unused. */
interface WorldCountersTable {
  account_id: number;
  worlds: Generated<number>;
  public_worlds: Generated<number>;
}

/** `definition` and `hash` repeat the rows of `attributes`, for readers of whole schemas. */
interface EntitySchemasTable extends Times {
  id: Id;
  world_id: number;
  name: string;
  description: string | null;
  attribute_count: Generated<number>;
  definition: AttributeDefinition[];
  hash: string;
}

interface AttributesTable extends Times {
  id: Id;
  schema_id: number;
  name: string;
  type: AttributeType;
  constraints: AttributeConstraints | null;
  default_value: JsonValue;
  indexed: Generated<boolean>;
}

/** `last_version` is the highest number ever assigned, `version_count` the number of versions that exist. */
interface EventsTable extends Times {
  id: Id;
  world_id: number;
  name: string;
  description: string | null;
  last_version: Generated<number>;
  version_count: Generated<number>;
}

/**
 * `frozen_schemas` and `version_hash` are set if and only if the version is locked. The database generates
 * `definition_hash` and `uses_all_schemas` from `definition`.
 */
interface EventVersionsTable extends Times {
  id: Id;
  event_id: number;
  version: number;
  definition: StoredVersion;
  locked_at: Date | null;
  frozen_schemas: Record<string, SchemaDefinition> | null;
  version_hash: string | null;
  definition_hash: Derived<string>;
  uses_all_schemas: Derived<boolean>;
}

/** The schemas that a version names and, if it is locked, all those frozen in it. */
interface VersionSchemasTable {
  version_id: number;
  schema_id: number;
}

interface ClaimsTable {
  deployment: string;
  kind: ClaimKind;
  target_id: number;
  world_id: number;
  revision: Generated<number>;
  checked_at: Date;
}

/** `worlds` null is no quota. */
interface AccountQuotasTable {
  account_id: number;
  worlds: number | null;
  revision: number;
}

export interface CatalogSchema {
  worlds: WorldsTable;
  world_counters: WorldCountersTable;
  entity_schemas: EntitySchemasTable;
  attributes: AttributesTable;
  events: EventsTable;
  event_versions: EventVersionsTable;
  version_schemas: VersionSchemasTable;
  claims: ClaimsTable;
  account_quotas: AccountQuotasTable;
}

export type WorldRow = Selectable<WorldsTable>;
export type EntitySchemaRow = Selectable<EntitySchemasTable>;
export type AttributeRow = Selectable<AttributesTable>;
export type EventRow = Selectable<EventsTable>;
export type VersionRow = Selectable<EventVersionsTable>;
export type ClaimRow = Selectable<ClaimsTable>;
