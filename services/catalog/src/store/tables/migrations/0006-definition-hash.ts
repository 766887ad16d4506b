import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * A cheap answer to whether a cached version is still current. The columns are generated, so existing rows have them and
 * no writer can forget them. The function is declared immutable although the conversions in it are not: they depend only
 * on the database's encoding, which never changes.
 */
export const definitionHash: Migration = {
  up: async (db) => {
    await sql`
      create function json_hash(content json) returns text language sql immutable strict parallel safe
      return encode(sha256(convert_to(content::text, 'UTF8')), 'hex')`.execute(db);
    await sql`
      alter table event_versions
        add column definition_hash text not null generated always as (json_hash(definition)) stored,
        add column uses_all_schemas boolean not null
          generated always as (definition ->> 'stateChanges' is null) stored`.execute(db);
  },
};
