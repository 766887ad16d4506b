import { deliveryRecord, webhookRecord } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { type ShownWebhook, toDeliveryRecord, toWebhookRecord } from './webhook-record.js';

const at = new Date('2026-11-21T09:30:00Z');
const row: ShownWebhook = {
  id: 'w',
  url: 'https://scores.example/',
  events: null,
  status: null,
  seq: 7,
  head_seq: 9,
  due_at: at,
  failures: 0,
  failing_since: null,
  problem: null,
  disabled_at: null,
  created_at: at,
  updated_at: at,
};
const problem = { code: 'timeout', detail: 'No answer came within 10 s.' };

it('shows how a webhook stands', () => {
  expect(webhookRecord.parse(toWebhookRecord(row))).toMatchObject({
    state: 'active',
    behind: 2,
    nextAttemptAt: null,
  });
  const failing = { ...row, failures: 2, failing_since: at, problem };
  expect(webhookRecord.parse(toWebhookRecord(failing))).toMatchObject({
    state: 'retrying',
    problem,
    failingSince: at.toISOString(),
    nextAttemptAt: at.toISOString(),
  });
  const disabled = { ...failing, due_at: null, disabled_at: at, head_seq: 3 };
  expect(webhookRecord.parse(toWebhookRecord(disabled))).toMatchObject({
    state: 'disabled',
    behind: 0,
    problem,
  });
});

it('shows a delivery', () => {
  const shown = toDeliveryRecord({
    number: 1,
    kind: 'entry',
    history_id: 'h',
    seq: 7,
    event: 'race',
    state: 'retrying',
    attempts: 2,
    response_status: 500,
    problem,
    duration_ms: 12,
    created_at: at,
    attempted_at: at,
  });
  expect(deliveryRecord.parse(shown)).toMatchObject({
    historyId: 'h',
    responseStatus: 500,
    attemptedAt: at.toISOString(),
  });
});
