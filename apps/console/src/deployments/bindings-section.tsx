import { useState } from 'react';
import {
  BINDINGS,
  deploymentKey,
  deploymentPath,
  useBindings,
  useDeploymentRef,
} from '../api/deployments.js';
import type { EventBinding } from '../api/records.js';
import { useChange } from '../api/use-change.js';
import { useEvents } from '../api/worlds.js';
import { Button, NameLink } from '../ui/button.js';
import { Confirm } from '../ui/dialog.js';
import { Await, Said } from '../ui/messages.js';
import { Empty, Section } from '../ui/page.js';
import { actionsColumn, type Column, Table } from '../ui/table.js';
import { Badges } from '../ui/values.js';
import { BindingDialog } from './binding-dialog.js';
import { filterWords } from './onchain-draft.js';

export function BindingsSection({ isLocked }: { isLocked: boolean }) {
  const ref = useDeploymentRef();
  const query = useBindings(ref);
  const events = useEvents(ref.world);
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
  const actions = actionsColumn<EventBinding>((binding) => (
    <BindingActions binding={binding} onEdit={() => setEdited(binding)} />
  ));
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
              columns={isLocked ? COLUMNS : [...COLUMNS, actions]}
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
  { header: 'Event', cell: ({ event }) => <EventLink event={event} /> },
  { header: 'Version', alignRight: true, cell: ({ eventVersion }) => eventVersion },
  {
    header: 'Chains',
    wideOnly: true,
    cell: ({ targetChains }) =>
      targetChains.length === 0 ? <span className="text-muted">none</span> : <Badges words={targetChains} />,
  },
  {
    header: 'What is pushed',
    wideOnly: true,
    className: 'min-w-40 break-words',
    cell: ({ targetChains, onchain }) => (targetChains.length === 0 ? '–' : filterWords(onchain)),
  },
];

function EventLink({ event }: { event: string }) {
  const { world } = useDeploymentRef();
  return (
    <NameLink to="/worlds/$world/events/$event" params={{ world, event }}>
      {event}
    </NameLink>
  );
}

function BindingActions({ binding: { event }, onEdit }: { binding: EventBinding; onEdit: () => void }) {
  const ref = useDeploymentRef();
  const unbind = useChange(
    (orrery) => orrery.delete(BINDINGS, { path: deploymentPath(ref), query: { event } }),
    [deploymentKey(ref)],
  );
  return (
    <div className="flex justify-end gap-2">
      <Button size="small" aria-label={`Change the binding of ${event}`} onClick={onEdit}>
        Change
      </Button>
      <Confirm verb="Unbind" size="small" title={`Unbind ${event}?`} onConfirm={() => unbind.mutateAsync()}>
        The deployment no longer runs this event, and its schedule ends. It can be bound again.
      </Confirm>
    </div>
  );
}
