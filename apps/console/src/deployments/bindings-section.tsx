import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { bindingsQuery, type EventBinding } from '../api/bindings.js';
import { eventsQuery } from '../api/events.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { Empty } from '../ui/empty.js';
import { Section } from '../ui/page.js';
import { Said } from '../ui/said.js';
import { type Column, Table } from '../ui/table.js';
import { BindingDialog } from './binding-dialog.js';
import { filterWords } from './onchain-draft.js';
import { useBindingRequests } from './use-binding-requests.js';
import { useDeploymentRef } from './use-deployment-ref.js';

/** Which events the deployment runs, each in which version, and what of them goes to which chains. */
export function BindingsSection({ isLocked }: { isLocked: boolean }) {
  const orrery = useOrrery();
  const ref = useDeploymentRef();
  const query = useQuery(bindingsQuery(orrery, ref));
  const events = useQuery(eventsQuery(orrery, ref.world));
  const [edited, setEdited] = useState<EventBinding | 'new'>();
  const [message, setMessage] = useState<string>();
  const bound = new Set(query.data?.map(({ event }) => event));
  const unbound = (events.data?.data ?? []).filter(
    ({ name, latestVersion }) => !bound.has(name) && latestVersion !== null,
  );
  const add = !isLocked && unbound.length > 0 && (
    <Button look="primary" onClick={() => setEdited('new')}>
      Bind an event
    </Button>
  );
  return (
    <Section title="Bindings" lead="The events that this deployment runs, each in one version." actions={add}>
      <Said message={message} />
      <Await query={query} what="the bindings">
        {(bindings) =>
          bindings.length === 0 ? (
            <Empty title="No event is bound." action={add}>
              {unbound.length === 0 && 'The world has no event that could be bound.'}
            </Empty>
          ) : (
            <Table
              label="Bindings"
              columns={isLocked ? COLUMNS : [...COLUMNS, actionsColumn(setEdited)]}
              rows={bindings}
              rowKey={({ event }) => event}
            />
          )
        }
      </Await>
      {edited !== undefined && (
        <BindingDialog
          binding={edited === 'new' ? undefined : edited}
          unbound={unbound}
          onClose={() => setEdited(undefined)}
          onDone={(said) => {
            setMessage(said);
            setEdited(undefined);
          }}
        />
      )}
    </Section>
  );
}

const COLUMNS: readonly Column<EventBinding>[] = [
  { key: 'event', header: 'Event', cell: ({ event }) => <EventLink event={event} /> },
  { key: 'version', header: 'Version', alignRight: true, cell: ({ eventVersion }) => eventVersion },
  {
    key: 'chains',
    header: 'Chains',
    wideOnly: true,
    cell: ({ targetChains }) =>
      targetChains.length === 0 ? (
        <span className="text-muted">none</span>
      ) : (
        <span className="flex flex-wrap gap-1">
          {targetChains.map((chain) => (
            <Badge key={chain}>{chain}</Badge>
          ))}
        </span>
      ),
  },
  {
    key: 'pushed',
    header: 'What is pushed',
    wideOnly: true,
    className: 'min-w-40 break-words',
    cell: ({ targetChains, onchain }) => (targetChains.length === 0 ? '–' : filterWords(onchain)),
  },
];

function EventLink({ event }: { event: string }) {
  const { world } = useDeploymentRef();
  return (
    <Link to="/worlds/$world/events/$event" params={{ world, event }} className="link font-medium">
      {event}
    </Link>
  );
}

const actionsColumn = (edit: (binding: EventBinding) => void): Column<EventBinding> => ({
  key: 'actions',
  header: <span className="sr-only">Actions</span>,
  cell: (binding) => <BindingActions binding={binding} onEdit={() => edit(binding)} />,
});

function BindingActions({ binding: { event }, onEdit }: { binding: EventBinding; onEdit: () => void }) {
  const { unbind } = useBindingRequests();
  return (
    <div className="flex justify-end gap-2">
      <Button size="small" aria-label={`Change the binding of ${event}`} onClick={onEdit}>
        Change
      </Button>
      <Confirm verb="Unbind" size="small" title={`Unbind ${event}?`} onConfirm={() => unbind(event)}>
        The deployment no longer runs this event, and its schedule ends. It can be bound again.
      </Confirm>
    </div>
  );
}
