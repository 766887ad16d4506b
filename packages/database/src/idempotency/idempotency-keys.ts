import { accountOf, type Caller, canonicalHash, type JsonValue, ServiceError } from '@orrery/contracts';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { type QueryExecutorProvider, sql } from 'kysely';
import { classifyPostgresError } from '../errors/postgres-errors.js';
import { statements } from '../migration/migrate.js';

/** How long a key answers the same, in milliseconds. */
export const IDEMPOTENCY_KEPT_MS = 24 * 60 * 60 * 1000;

/** One request that carries an `Idempotency-Key`. */
export interface KeyedRequest {
  readonly accountId: number;
  /** Method and path: the same key on another path is another key. */
  readonly operation: string;
  readonly key: string;
  /** What must be the same when the key comes again: the body, and the query where it matters. */
  readonly request: JsonValue;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * The keyed request of a caller with an account; `undefined` without a key or an account. `operation` names the method
 * and the thing, so that a path by id and one by address are the same operation. `now` in milliseconds since the epoch.
 */
export function keyedRequest(
  operation: string,
  key: string | undefined,
  request: object,
  caller: Caller,
  now: number,
): KeyedRequest | undefined {
  const accountId = accountOf(caller);
  if (key === undefined || accountId === undefined) return undefined;
  // A parsed body is JSON.
  return { accountId, operation, key, request: request as JsonValue, now };
}

/**
 * The stored answer to a repetition, before any work; `undefined` when the key is free, or while its first request is in
 * flight, which only the claim decides. An expired key is removed, so that a plain insert finds it free.
 *
 * @throws ServiceError `idempotency_key_reused` when the key came with another request.
 */
export async function findAnswer(
  db: QueryExecutorProvider,
  request: KeyedRequest,
): Promise<JsonValue | undefined> {
  const first = await readKey(db, request);
  if (first === undefined) return undefined;
  if (first.created_at <= expiry(request.now)) {
    await sql`
      delete from idempotency_keys where ${thisKey(request)} and created_at <= ${expiry(request.now)}`.execute(
      db,
    );
    return undefined;
  }
  return first.reply === null ? undefined : replyTo(first, canonicalHash(request.request));
}

interface KeyRow {
  request_hash: string;
  /** Null while the first request is being answered. */
  reply: JsonValue;
  created_at: Date;
}

async function readKey(db: QueryExecutorProvider, request: KeyedRequest): Promise<KeyRow | undefined> {
  const { rows } = await sql<KeyRow>`
    select request_hash, reply, created_at from idempotency_keys where ${thisKey(request)}`.execute(db);
  return rows[0];
}

function replyTo({ request_hash, reply }: KeyRow, hash: string): JsonValue {
  if (request_hash !== hash) throw new ServiceError('idempotency_key_reused');
  return reply;
}

/**
 * Runs `work` the first time, in the transaction that makes its reply true, and returns the stored reply afterwards.
 * Without a request (no key was sent) it just runs. While another transaction holds the same key this waits for its end:
 * after its rollback the key is free, after its commit its reply is returned.
 *
 * @throws ServiceError `idempotency_key_reused` when the key came with another request; `request_in_flight` when the
 *   first request is not answered yet.
 */
export async function answerOnce<Reply>(
  trx: QueryExecutorProvider,
  request: KeyedRequest | undefined,
  work: () => Promise<Reply>,
): Promise<Reply> {
  if (request === undefined) return work();
  const hash = canonicalHash(request.request);
  if (!(await insertKey(trx, request, hash))) {
    const first = await readKey(trx, request);
    if (first === undefined || first.reply === null) throw inFlight();
    // Stored by this very operation, so it has its reply's shape.
    return replyTo(first, hash) as Reply;
  }
  const reply = await work();
  await sql`
    update idempotency_keys set reply = cast(${JSON.stringify(reply)} as json)
    where ${thisKey(request)}`.execute(trx);
  return reply;
}

const expiry = (now: number): Date => new Date(now - IDEMPOTENCY_KEPT_MS);

const thisKey = ({ accountId, operation, key }: KeyedRequest) =>
  sql`account_id = ${accountId} and operation = ${operation} and key = ${key}`;

const inFlight = (cause?: unknown) => new ServiceError('request_in_flight', undefined, { cause });

/** True when the key is new or has expired. */
async function insertKey(trx: QueryExecutorProvider, request: KeyedRequest, hash: string): Promise<boolean> {
  const { accountId, operation, key, now } = request;
  const insert = sql`
    insert into idempotency_keys as known (account_id, operation, key, request_hash, created_at)
    values (${accountId}, ${operation}, ${key}, ${hash}, ${new Date(now)})
    on conflict (account_id, operation, key) do update
      set request_hash = excluded.request_hash, reply = null, created_at = excluded.created_at
      where known.created_at <= ${expiry(now)}
    returning 1`;
  const { rows } = await insert.execute(trx).catch((error: unknown) => {
    throw classifyPostgresError(error).kind === 'timeout' ? inFlight(error) : error;
  });
  return rows.length === 1;
}

const KEYS_PER_RUN = 1000;

/** Starts the loop that removes expired keys. `intervalMs` in milliseconds. */
export const startKeySweep = (
  db: QueryExecutorProvider,
  { clock, logger, intervalMs }: { clock: Clock; logger: Logger; intervalMs: number },
): PollLoop =>
  startPollLoop({
    name: 'idempotency key sweep',
    intervalMs,
    clock,
    logger,
    runOnce: async () => {
      const { numAffectedRows } = await sql`
        delete from idempotency_keys where ctid in (
          select ctid from idempotency_keys where created_at <= ${expiry(clock.now())}
          limit ${KEYS_PER_RUN} for update skip locked
        )`.execute(db);
      return Number(numAffectedRows ?? 0) === KEYS_PER_RUN ? 'more' : 'idle';
    },
  });

/** Adds `idempotency_keys` to a service's schema. `reply` is null while the first request is under way. */
export const idempotencyTable = statements(`
  create table idempotency_keys (
    account_id bigint not null,
    operation text not null,
    key text not null,
    request_hash text not null,
    reply json,
    created_at timestamptz(3) not null,
    primary key (account_id, operation, key)
  );
  create index idempotency_keys_by_age on idempotency_keys (created_at);
`);
