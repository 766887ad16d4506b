import { useChange } from '../api/change.js';
import { deploymentPath, useDeploymentRef, WEBHOOKS } from '../api/deployments.js';
import { keyOf, REFRESHED, usePage } from '../api/read.js';
import type { WebhookDelivery } from '../api/records.js';
import { Button } from '../ui/button.js';
import { ErrorNote } from '../ui/messages.js';
import { Empty } from '../ui/page.js';
import { actionsColumn, type Column, Listing } from '../ui/table.js';
import { Badge, Failure, Time, type Tone } from '../ui/values.js';

const WEBHOOK = `${WEBHOOKS}/{webhookId}` as const;
const DELIVERIES = `${WEBHOOK}/deliveries` as const;

/** The latest 50 deliveries of a webhook with their outcomes. */
export function Deliveries({ webhookId }: { webhookId: string }) {
  const path = { ...deploymentPath(useDeploymentRef()), webhookId };
  const keys = [keyOf(DELIVERIES, path)];
  const test = useChange((orrery) => orrery.post(`${WEBHOOK}/test`, { path }), keys);
  const redeliver = useChange(
    (orrery, historyId: string) => orrery.post(`${WEBHOOK}/redeliver`, { path, body: { historyId } }),
    keys,
  );
  return (
    <>
      <div className="mb-3">
        <Button pending={test.isPending} onClick={() => test.mutate()}>
          Send a test
        </Button>
      </div>
      <ErrorNote error={test.error ?? redeliver.error} failed="It was not sent" />
      <Listing
        query={usePage(DELIVERIES, path, { page: 1 }, REFRESHED)}
        what="deliveries"
        columns={columnsOf((historyId) => redeliver.mutate(historyId))}
        rowKey={({ number }) => number}
        empty={<Empty title="Nothing was sent yet." />}
      />
    </>
  );
}

const TONES: Record<WebhookDelivery['state'], Tone> = {
  queued: 'plain',
  delivered: 'ok',
  retrying: 'warn',
  failed: 'bad',
};

const columnsOf = (redeliver: (historyId: string) => void): readonly Column<WebhookDelivery>[] => [
  { header: 'Number', alignRight: true, cell: ({ number }) => number },
  {
    header: 'What',
    cell: ({ kind, seq, event }) =>
      seq === null ? 'test' : `${event ?? 'entry'} ${seq}${kind === 'redelivery' ? ', again' : ''}`,
  },
  {
    header: 'State',
    cell: ({ state, problem }) => (
      <>
        <Badge tone={TONES[state]}>{state}</Badge>
        {problem && (
          <p className="mt-0.5 text-sm">
            <Failure error={problem} />
          </p>
        )}
      </>
    ),
  },
  { header: 'Attempts', alignRight: true, wideOnly: true, cell: ({ attempts }) => attempts },
  { header: 'Answer', alignRight: true, wideOnly: true, cell: ({ responseStatus }) => responseStatus ?? '–' },
  {
    header: 'Tried',
    cell: ({ attemptedAt }) => <Time at={attemptedAt} relative isPast otherwise="not yet" />,
  },
  actionsColumn(
    ({ historyId, number }) =>
      historyId !== null && (
        <Button
          size="small"
          aria-label={`Send again: delivery ${number}`}
          onClick={() => redeliver(historyId)}
        >
          Send again
        </Button>
      ),
  ),
];
