import { createMeter } from '@orrery/service-kit';
import type { AfterAttempt } from '../core/webhooks/after-attempt.js';
import type { WebhookBacklog } from '../store/webhooks/claimed-webhooks.js';

export type WebhookSignals = ReturnType<typeof webhookSignals>;

/** What is measured of webhooks, all together: an installation may have any number of them. */
export function webhookSignals() {
  const meter = createMeter('chain-pusher');
  const gauge = (name: string, description: string) =>
    meter.createGauge(`orrery_webhook_${name}`, { description });
  const backlog = gauge('backlog', 'Entries that webhooks are behind their journals, as far as known');
  const age = gauge('oldest_seconds', 'Age of the oldest entry whose delivery is tried again');
  const retrying = gauge('retrying', 'Webhooks whose last delivery failed and is tried again');
  const disabled = gauge('disabled', 'Webhooks that are disabled');
  const attempts = meter.createCounter('orrery_webhook_attempts', {
    description: 'Deliveries tried, by what follows: delivered, retry, disable; asked for those by hand',
  });
  const seconds = meter.createHistogram('orrery_webhook_attempt_seconds', {
    description: 'Seconds that an attempt took',
    unit: 's',
  });
  return {
    attempted: (outcome: AfterAttempt['step'] | 'asked', durationMs: number) => {
      attempts.add(1, { outcome });
      seconds.record(durationMs / 1000);
    },
    backlog: (found: WebhookBacklog) => {
      backlog.record(found.entries);
      age.record(found.seconds);
      retrying.record(found.retrying);
      disabled.record(found.disabled);
    },
  };
}
