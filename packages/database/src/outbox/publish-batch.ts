import { type JsonText, type JsonValue, ServiceError } from '@orrery/contracts';

/** A committed row of the outbox that waits for its publication. */
export interface OutboxRow {
  readonly id: number;
  readonly name: string;
  readonly orderingKey: string;
  readonly orderingSeq: number | null;
  readonly messageId: string;
  readonly payload: JsonValue | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** A row with its payload, ready for the bus. */
export interface OutboxMessage extends Omit<OutboxRow, 'payload'> {
  readonly payload: JsonValue | JsonText;
}

export interface Publisher {
  /**
   * Publishes messages: those of one key in their order, and none after one that failed. Resolves to one outcome for
   * each message, in the order given: undefined when the bus has stored it, otherwise the error.
   */
  readonly publish: (messages: readonly OutboxMessage[]) => Promise<readonly unknown[]>;
  /** Payloads, by row id, of the rows that only refer to an entry. Required if there are such rows. */
  readonly load?: (rows: readonly OutboxRow[]) => Promise<ReadonlyMap<number, JsonValue | JsonText>>;
}

/** The rows of a key that the bus has stored, and the error of the row after them. */
export interface KeyOutcome {
  readonly key: string;
  readonly published: readonly number[];
  readonly error?: unknown;
}

class MissingPayload extends Error {}

/** Codes with which the bus refuses a message because of its content. */
const REFUSALS: readonly string[] = ['body_too_large', 'validation_failed'];

/** Whether the message itself causes the failure, which then says nothing about the bus. */
export const isOwnFailure = (error: unknown): boolean =>
  error instanceof MissingPayload || (error instanceof ServiceError && REFUSALS.includes(error.code));

/** Publishes rows; returns how far that went for each key. */
export async function publishBatch(publisher: Publisher, rows: readonly OutboxRow[]): Promise<KeyOutcome[]> {
  const payloads = await loadPayloads(publisher, rows);
  const failures = new Map<number, unknown>();
  const messages: OutboxMessage[] = [];
  const queues = [...byOrderingKey(rows)];
  for (const [, queue] of queues) {
    for (const row of queue) {
      const payload = row.payload ?? payloads.get(row.id);
      if (payload === undefined) {
        failures.set(row.id, new MissingPayload(`no payload was loaded for ${row.name} ${row.messageId}`));
        break;
      }
      messages.push(withPayload(row, payload));
    }
  }
  const outcomes = messages.length === 0 ? [] : await publisher.publish(messages);
  for (const [index, { id }] of messages.entries()) {
    if (outcomes[index] !== undefined) failures.set(id, outcomes[index]);
  }
  return queues.map(([key, queue]) => keyOutcome(key, queue, failures));
}

/** The rows by ordering key, each in their order. */
function byOrderingKey(rows: readonly OutboxRow[]): Map<string, OutboxRow[]> {
  const queues = new Map<string, OutboxRow[]>();
  for (const row of rows) {
    const queue = queues.get(row.orderingKey);
    if (queue === undefined) queues.set(row.orderingKey, [row]);
    else queue.push(row);
  }
  return queues;
}

/** Member by member: spreading the objects that the driver makes takes a slow path of the engine. */
const withPayload = (row: OutboxRow, payload: OutboxMessage['payload']): OutboxMessage => ({
  id: row.id,
  name: row.name,
  orderingKey: row.orderingKey,
  orderingSeq: row.orderingSeq,
  messageId: row.messageId,
  payload,
  headers: row.headers,
});

/** Rows after a failed one stay in the outbox, so that a retry keeps the order. */
function keyOutcome(
  key: string,
  queue: readonly OutboxRow[],
  failures: ReadonlyMap<number, unknown>,
): KeyOutcome {
  const ids = queue.map(({ id }) => id);
  const failed = ids.find((id) => failures.has(id));
  if (failed === undefined) return { key, published: ids };
  return { key, published: ids.slice(0, ids.indexOf(failed)), error: failures.get(failed) };
}

async function loadPayloads(
  { load }: Publisher,
  rows: readonly OutboxRow[],
): Promise<ReadonlyMap<number, JsonValue | JsonText>> {
  const references = rows.filter(({ payload }) => payload === null);
  return references.length === 0 || load === undefined ? new Map() : load(references);
}
