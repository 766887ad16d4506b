import { type JsonText, type JsonValue, ServiceError } from '@orrery/contracts';
import { byOrderingKey, type OutboxRow } from './outbox-row.js';

/** A row with its payload, ready for the bus. */
export interface OutboxMessage extends Omit<OutboxRow, 'payload'> {
  readonly payload: JsonValue | JsonText;
}

export interface Publisher {
  /**
   * Publishes messages, those of one key in their order and none after one that failed. Answers for each, in the
   * order given: undefined when the bus has stored it, else why not.
   */
  readonly publish: (messages: readonly OutboxMessage[]) => Promise<readonly unknown[]>;
  /** Payloads, by row id, of the rows that only refer to an entry. Needed if there are any. */
  readonly load?: (rows: readonly OutboxRow[]) => Promise<ReadonlyMap<number, JsonValue | JsonText>>;
}

/** Which rows of a key the bus has taken, and what went wrong with the one after them. */
export interface LaneOutcome {
  readonly key: string;
  readonly published: readonly number[];
  readonly error?: unknown;
}

class MissingPayload extends Error {}

/** With which the bus refuses a message for what it is. */
const REFUSALS: readonly string[] = ['body_too_large', 'validation_failed'];

/** Whether a failure is the message's own, which says nothing of the bus. */
export const isOwnFailure = (error: unknown): boolean =>
  error instanceof MissingPayload || (error instanceof ServiceError && REFUSALS.includes(error.code));

/** Publishes rows, and tells for each key how far that went. */
export async function publishBatch(publisher: Publisher, rows: readonly OutboxRow[]): Promise<LaneOutcome[]> {
  const payloads = await loadPayloads(publisher, rows);
  const failures = new Map<number, unknown>();
  const messages: OutboxMessage[] = [];
  const lanes = [...byOrderingKey(rows)];
  for (const [, lane] of lanes) {
    for (const row of lane) {
      const payload = row.payload ?? payloads.get(row.id);
      if (payload === undefined) {
        failures.set(row.id, new MissingPayload(`no payload was loaded for ${row.name} ${row.messageId}`));
        break;
      }
      messages.push(withPayload(row, payload));
    }
  }
  const outcomes = messages.length === 0 ? [] : await publisher.publish(messages);
  for (const [place, { id }] of messages.entries()) {
    if (outcomes[place] !== undefined) failures.set(id, outcomes[place]);
  }
  return lanes.map(([key, lane]) => laneOutcome(key, lane, failures));
}

/** Member by member: to spread what the driver has made takes the engine's slow path. */
const withPayload = (row: OutboxRow, payload: OutboxMessage['payload']): OutboxMessage => ({
  id: row.id,
  name: row.name,
  orderingKey: row.orderingKey,
  orderingSeq: row.orderingSeq,
  messageId: row.messageId,
  payload,
  headers: row.headers,
});

/** What follows a failure stays, so that the order is kept when it is tried again. */
function laneOutcome(
  key: string,
  lane: readonly OutboxRow[],
  failures: ReadonlyMap<number, unknown>,
): LaneOutcome {
  const ids = lane.map(({ id }) => id);
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
