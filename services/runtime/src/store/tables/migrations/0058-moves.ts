import { statements } from '@orrery/database';

/**
 * Partitions with deployments move between databases (docs/adr/0052). A row of `deployments` is in the database in which its
 * partition lives and in no other one, so it comes after the rows that name it and goes before them: no foreign key can hold.
 * `departed_deployments`: those that have left, or are leaving, as long as their other rows are here.
 */
export const moves = statements(`
  alter table runtime.bindings drop constraint bindings_deployment_id_fkey;
  alter table runtime.claimed_schemas drop constraint claimed_schemas_deployment_id_fkey;
  alter table runtime.runs drop constraint runs_deployment_id_fkey;
  alter table runtime.operator_pauses drop constraint operator_pauses_deployment_id_fkey;
  alter table runtime.payments drop constraint payments_deployment_id_fkey;
  alter table runtime.payment_totals drop constraint payment_totals_deployment_id_fkey;
  alter table runtime.ai_usage drop constraint ai_usage_deployment_id_fkey;
  alter table runtime.what_if_forks drop constraint what_if_forks_deployment_id_fkey;
  alter table runtime.code_access drop constraint code_access_deployment_id_fkey;
  alter table runtime.randomness drop constraint randomness_deployment_id_fkey;
  create table runtime.departed_deployments (
    id bigint primary key,
    row json not null
  );
`);
