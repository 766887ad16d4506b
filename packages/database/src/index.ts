export { watchBacklogs } from './backlog-signals.js';
export * from './connection/connect.js';
export { describeAddress } from './connection/database-hosts.js';
export * from './connection/jsonb.js';
export type { PoolLimits, PoolOptions } from './connection/pool.js';
export { type PreparedStatement, prepared } from './connection/pool.js';
export * from './errors/postgres-errors.js';
export * from './errors/to-service-error.js';
export * from './idempotency/idempotency-keys.js';
export * from './inbox/inbox.js';
export * from './inbox/inbox-table.js';
export * from './migration/migrate.js';
export * from './outbox/enqueue.js';
export { type OutboxMessage, type OutboxRelayOptions, startOutboxRelay } from './outbox/outbox-relay.js';
export * from './outbox/outbox-table.js';
export * from './outbox/relay.js';

export * from './paging/paging.js';
export * from './transaction/transaction.js';
