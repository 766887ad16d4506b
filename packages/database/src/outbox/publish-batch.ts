import type { JsonValue } from '@orrery/contracts';
import { byOrderingKey, type OutboxRow } from './outbox-row.js';
import { type LaneOutcome, publishLane } from './publish-lane.js';

/** A row with its payload, ready for the bus. */
export interface OutboxMessage extends Omit<OutboxRow, 'payload'> {
  readonly payload: JsonValue;
}

export interface Publisher {
  /** Resolves when the bus has stored the message. */
  readonly publish: (message: OutboxMessage) => Promise<void>;
  /** Payloads, by row id, of the rows that only refer to an entry. Needed if there are any. */
  readonly load?: (rows: readonly OutboxRow[]) => Promise<ReadonlyMap<number, JsonValue>>;
  /** Publications of one key under way at once; see `publishLane`. Default 1. */
  readonly window?: number;
}

/** Publishes rows: those of one key in order, the keys side by side. */
export async function publishBatch(publisher: Publisher, rows: readonly OutboxRow[]): Promise<LaneOutcome[]> {
  const loaded = await loadPayloads(publisher, rows);
  const publishRow = async (row: OutboxRow) => {
    const payload = row.payload ?? loaded.get(row.id);
    if (payload === undefined) throw new Error(`no payload was loaded for ${row.name} ${row.messageId}`);
    await publisher.publish({ ...row, payload });
  };
  const lanes = [...byOrderingKey(rows)];
  return Promise.all(lanes.map(([key, lane]) => publishLane(key, lane, publishRow, publisher.window ?? 1)));
}

async function loadPayloads(
  { load }: Publisher,
  rows: readonly OutboxRow[],
): Promise<ReadonlyMap<number, JsonValue>> {
  const references = rows.filter(({ payload }) => payload === null);
  return references.length === 0 || load === undefined ? new Map() : load(references);
}
