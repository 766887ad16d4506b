/**
 * How the rows of each table of the schema `runtime` get to the database to which their partition moves. A test compares the
 * names with the tables that there are, so a new table gets its line. ADR 52 gives the reasons.
 *
 * - `replicated`: by logical replication, while commits go on; the filter is the partition of `deployment_id`.
 * - `carried`: copied while the partition has no owner.
 * - `derived`: left behind, and computed anew where the partition arrives.
 * - `own`: of the database, not of its deployments.
 */
export const MOVED_TABLES = {
  journal: 'replicated',
  journal_heads: 'replicated',
  instances: 'replicated',
  instance_changes: 'replicated',
  kept_states: 'replicated',
  bindings: 'replicated',
  claimed_schemas: 'replicated',
  runs: 'replicated',
  once_keys: 'replicated',
  timers: 'replicated',
  timer_heads: 'replicated',
  payments: 'replicated',
  payment_totals: 'replicated',
  ai_usage: 'replicated',
  ai_reservations: 'replicated',
  operator_pauses: 'replicated',
  what_if_forks: 'replicated',
  randomness: 'replicated',
  code_access: 'replicated',
  // Derived as well, but from all of a journal.
  lifetimes: 'replicated',
  lifetime_heads: 'replicated',
  merkle_nodes: 'replicated',
  merkle_heads: 'replicated',
  activity: 'replicated',
  activity_heads: 'replicated',
  deployments: 'carried',
  definitions: 'carried',
  idempotency_keys: 'carried',
  acknowledged_occurrences: 'carried',
  attribute_indexes: 'derived',
  indexed_values: 'derived',
  // What a release before this one left; heads say what is published.
  outbox: 'derived',
  accounts: 'own',
  departed_deployments: 'own',
  journal_form: 'own',
  members: 'own',
  migration: 'own',
  migration_lock: 'own',
  partitions: 'own',
  this_database: 'own',
} as const satisfies Record<string, 'replicated' | 'carried' | 'derived' | 'own'>;

/** In the order of their names. */
export const REPLICATED: readonly string[] = Object.entries(MOVED_TABLES)
  .flatMap(([table, way]) => (way === 'replicated' ? [table] : []))
  .sort();
