import { statements } from '@orrery/database';

/**
 * `this_database` has the id by which the directory names this database; the first runtime that starts makes it, so that
 * copies of an empty database differ. `partitions.generation` is the directory's generation of a partition as this database
 * has it: 0 where the partition has never been here or has left (docs/adr/0052).
 */
export const generations = statements(`
  create table runtime.this_database (
    id uuid not null,
    is_only boolean primary key default true check (is_only)
  );
  alter table runtime.partitions add column generation bigint not null default 1 check (generation >= 0);
`);
