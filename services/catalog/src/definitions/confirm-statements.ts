/**
 * One row for each question in `$1`, in their order: `same`, `changed` or `gone`. The text is constant and rows made
 * from JSON are estimated alike whatever is in them, so it is planned once; `now` is one look-up for each question.
 */
const answering = (columns: string, now: string) => `
with question as materialized (
  select q.ordinality, q.hash, (${now}) as now
  from rows from (jsonb_to_recordset($1::jsonb) as (${columns})) with ordinality as q
)
select case when now is null then 'gone' when now = hash then 'same' else 'changed' end
from question order by ordinality`;

/**
 * `now` is `definitionHash` over the rows in the statement's one snapshot, taken after the question came. A draft is
 * linked to exactly the schemas that it names by the transaction that writes it, and what is linked is neither renamed
 * nor deleted: so whatever changes a definition changes `now`. (`coalesce`: `concat_ws` leaves nulls out.)
 */
export const CONFIRM_VERSIONS = {
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

/** A schema's hash is written with its name and attributes. */
export const CONFIRM_SCHEMAS = {
  name: 'confirm-schemas',
  text: answering(
    '"worldId" bigint, name text, hash text',
    'select s.hash from entity_schemas s where s.world_id = q."worldId" and s.name = q.name',
  ),
};
