import { statements } from '@orrery/database';

/**
 * Where the code of a version failed, for those who may see it: entries of earlier releases hold that in `error`, which
 * everybody reads. `written_entry` takes the place of `next_entry`, which the previous release still uses.
 */
export const failedCode = statements(`
  alter table runtime.journal add column failed_code jsonb;
  create type runtime.written_entry as (
    deployment_id bigint,
    deployment text,
    seq bigint,
    id uuid,
    v smallint,
    kind text,
    event text,
    event_version integer,
    version_hash text,
    trigger text,
    caller text,
    status text,
    result jsonb,
    error jsonb,
    llm_hash text,
    attestation jsonb,
    payment_key text,
    executed_at timestamptz,
    prev_hash text,
    hash text,
    llm jsonb,
    pushes jsonb,
    duration_ms double precision,
    decided_at timestamptz,
    evaluator integer,
    recorded jsonb,
    failed_code jsonb
  );
`);
