import type { DeliveryRecord, ExecutionStatus, WebhookProblem, WebhookRecord } from '@orrery/contracts';

/** A row of `webhooks`, as far as it is shown. */
export interface ShownWebhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[] | null;
  readonly status: ExecutionStatus | null;
  readonly seq: number;
  readonly head_seq: number;
  readonly due_at: Date | null;
  readonly failures: number;
  readonly failing_since: Date | null;
  readonly problem: WebhookProblem | null;
  readonly disabled_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A webhook as its owner sees it. */
export function toWebhookRecord(row: ShownWebhook): WebhookRecord {
  const isRetrying = row.failures > 0;
  const state = row.disabled_at !== null ? 'disabled' : isRetrying ? 'retrying' : 'active';
  return {
    id: row.id,
    url: row.url,
    events: row.events && [...row.events],
    status: row.status,
    state,
    seq: row.seq,
    behind: Math.max(0, row.head_seq - row.seq),
    failingSince: timeOf(row.failing_since),
    nextAttemptAt: state === 'retrying' ? timeOf(row.due_at) : null,
    problem: row.problem,
    disabledAt: timeOf(row.disabled_at),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** A row of `webhook_deliveries`, as far as it is shown. */
export interface ShownDelivery {
  readonly number: number;
  readonly kind: DeliveryRecord['kind'];
  readonly history_id: string | null;
  readonly seq: number | null;
  readonly event: string | null;
  readonly state: DeliveryRecord['state'];
  readonly attempts: number;
  readonly response_status: number | null;
  readonly problem: WebhookProblem | null;
  readonly duration_ms: number | null;
  readonly created_at: Date;
  readonly attempted_at: Date | null;
}

/** A delivery as the owner of the webhook sees it. */
export const toDeliveryRecord = (row: ShownDelivery): DeliveryRecord => ({
  number: row.number,
  kind: row.kind,
  historyId: row.history_id,
  seq: row.seq,
  event: row.event,
  state: row.state,
  attempts: row.attempts,
  responseStatus: row.response_status,
  problem: row.problem,
  durationMs: row.duration_ms,
  createdAt: row.created_at.toISOString(),
  attemptedAt: timeOf(row.attempted_at),
});

const timeOf = (time: Date | null): string | null => time?.toISOString() ?? null;
