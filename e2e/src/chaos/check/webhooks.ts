import type { ReceivedWebhook } from '../house/webhooks.js';
import type { Evidence, JournalRow } from './evidence.js';

/**
 * Invariant 9, for receivers of webhooks: each execution that a webhook wants has arrived at least once, the first times in the
 * order of the journal, signed, as it stands in the journal; and nothing else has arrived.
 */
export const wrongWebhooks = ({ entries, webhooks }: Pick<Evidence, 'entries' | 'webhooks'>): string[] =>
  webhooks.flatMap((webhook) => {
    const wanted = entries.filter(
      ({ deployment, kind, status }) =>
        deployment === webhook.deployment &&
        kind === 'execution' &&
        (webhook.status === null || webhook.status === status),
    );
    return wrongWebhook(webhook, wanted).map((what) => `${webhook.path} ${what}`);
  });

function wrongWebhook({ deliveries }: ReceivedWebhook, wanted: readonly JournalRow[]): string[] {
  const hashes = new Map(wanted.map(({ id, hash }) => [id, hash]));
  const wrong = deliveries.flatMap(({ id, hash, isGenuine }) => {
    if (!isGenuine) return [`was sent ${id} with a wrong signature`];
    if (!hashes.has(id)) return [`was sent ${id}, which it does not want`];
    return hashes.get(id) === hash ? [] : [`was sent ${id} with another content`];
  });
  const first = [...new Set(deliveries.map(({ id }) => id))].filter((id) => hashes.has(id));
  const missing = wanted.filter(({ id }) => !first.includes(id));
  const arrived = wanted.filter(({ id }) => first.includes(id)).map(({ id }) => id);
  const displaced = first.find((id, at) => id !== arrived[at]);
  return [
    ...wrong,
    ...(missing.length === 0
      ? []
      : [
          `was not sent ${missing.length} of ${wanted.length} executions, of which ${missing[0]?.id} is the first`,
        ]),
    ...(displaced === undefined ? [] : [`was sent ${displaced} out of order`]),
  ];
}
