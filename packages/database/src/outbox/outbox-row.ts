import type { JsonValue } from '@orrery/contracts';

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

/** The rows by ordering key, in their order. */
export function byOrderingKey(rows: readonly OutboxRow[]): Map<string, OutboxRow[]> {
  const lanes = new Map<string, OutboxRow[]>();
  for (const row of rows) {
    const lane = lanes.get(row.orderingKey);
    if (lane === undefined) lanes.set(row.orderingKey, [row]);
    else lane.push(row);
  }
  return lanes;
}
