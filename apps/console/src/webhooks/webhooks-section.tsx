import { useState } from 'react';
import { useChange } from '../api/change.js';
import { deploymentPath, useDeploymentRef, WEBHOOKS } from '../api/deployments.js';
import { keyOf, REFRESHED, useList } from '../api/read.js';
import type { Webhook } from '../api/records.js';
import { Button } from '../ui/button.js';
import { Actions, Confirm, Dialog, FormButton } from '../ui/dialog.js';
import { actionsColumn, type Column, ListSection } from '../ui/table.js';
import { Badge, CopyableCode, Failure, Time, type Tone } from '../ui/values.js';
import { Deliveries } from './deliveries.js';
import { NewSecret } from './new-secret.js';
import { NewWebhook } from './new-webhook.js';

type ShowSecret = (secret: string) => void;

/** Addresses that the executions of the deployment are sent to. */
export function WebhooksSection() {
  const [secret, setSecret] = useState<string>();
  const path = deploymentPath(useDeploymentRef());
  return (
    <>
      <ListSection
        query={useList(WEBHOOKS, path, REFRESHED)}
        what="webhooks"
        lead="Executions are sent to these addresses as they commit: in order, each at least once, signed."
        empty="No webhook is set up."
        columns={columnsOf(setSecret)}
        rowKey={({ id }) => id}
        create={
          <FormButton verb="New webhook" title="New webhook">
            {(close) => <NewWebhook onSecret={setSecret} onClose={close} />}
          </FormButton>
        }
      >
        A program of yours is called whenever something was executed, and nothing is lost while it is away.
      </ListSection>
      <ShownSecret secret={secret} onClose={() => setSecret(undefined)} />
    </>
  );
}

const ShownSecret = ({ secret, onClose }: { secret: string | undefined; onClose: () => void }) => (
  <Dialog title="The secret of the webhook" open={secret !== undefined}>
    <p className="mb-3">
      Your program verifies deliveries with it. Copy it now: it is not shown again, and nobody can look it up.
    </p>
    <div className="rounded-md border border-line bg-sunken px-3 py-2">
      <CopyableCode text={secret ?? ''} what="the secret of the webhook" />
    </div>
    <Actions>
      <Button look="primary" onClick={onClose}>
        I have it
      </Button>
    </Actions>
  </Dialog>
);

const TONES: Record<Webhook['state'], Tone> = { active: 'ok', retrying: 'warn', disabled: 'bad' };

const columnsOf = (onSecret: ShowSecret): readonly Column<Webhook>[] => [
  {
    header: 'Address',
    className: 'min-w-48 break-all',
    cell: ({ url, events, status }) => (
      <>
        {url}
        <p className="mt-0.5 text-sm text-muted">{wantedOf({ events, status })}</p>
      </>
    ),
  },
  {
    header: 'State',
    className: 'min-w-40',
    cell: ({ state, problem, nextAttemptAt }) => (
      <>
        <Badge tone={TONES[state]}>{state}</Badge>
        {problem && (
          <p className="mt-0.5 text-sm">
            <Failure error={problem} />
          </p>
        )}
        {nextAttemptAt !== null && (
          <p className="mt-0.5 text-sm text-muted">
            next attempt <Time at={nextAttemptAt} relative />
          </p>
        )}
      </>
    ),
  },
  { header: 'Behind', alignRight: true, wideOnly: true, cell: ({ behind }) => behind },
  actionsColumn((webhook) => <WebhookActions webhook={webhook} onSecret={onSecret} />),
];

const wantedOf = ({ events, status }: Pick<Webhook, 'events' | 'status'>): string =>
  [status ?? 'all', 'executions', events === null ? '' : `of ${events.join(', ')}`].filter(Boolean).join(' ');

const WEBHOOK = `${WEBHOOKS}/{webhookId}` as const;

function WebhookActions({ webhook, onSecret }: { webhook: Webhook; onSecret: ShowSecret }) {
  const path = { ...deploymentPath(useDeploymentRef()), webhookId: webhook.id };
  const keys = [keyOf(WEBHOOKS, path)];
  const change = useChange(
    (orrery, isEnabled: boolean) => orrery.put(WEBHOOK, { path, body: { isEnabled } }),
    keys,
  );
  const remove = useChange((orrery) => orrery.delete(WEBHOOK, { path }), keys);
  const isOff = webhook.state === 'disabled';
  return (
    <span className="flex flex-wrap justify-end gap-1">
      <FormButton verb="Deliveries" title={`Deliveries to ${webhook.url}`} size="small" look="secondary" wide>
        {() => <Deliveries webhookId={webhook.id} />}
      </FormButton>
      {webhook.state !== 'active' && (
        <Button size="small" pending={change.isPending} onClick={() => change.mutate(true)}>
          {isOff ? 'Enable' : 'Try again'}
        </Button>
      )}
      {!isOff && (
        <Button size="small" pending={change.isPending} onClick={() => change.mutate(false)}>
          Disable
        </Button>
      )}
      <FormButton verb="New secret" title="Replace the secret?" size="small" look="secondary">
        {(close) => <NewSecret webhookId={webhook.id} onSecret={onSecret} onClose={close} />}
      </FormButton>
      <Confirm verb="Remove" size="small" title="Remove the webhook?" onConfirm={() => remove.mutateAsync()}>
        Nothing more is sent to {webhook.url}, and the list of its deliveries is gone.
      </Confirm>
    </span>
  );
}
