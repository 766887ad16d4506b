import { useState } from 'react';
import { useChange } from '../api/change.js';
import {
  BINDINGS,
  deploymentKey,
  deploymentPath,
  useBindings,
  useChains,
  useDeploymentRef,
} from '../api/deployments.js';
import type { Event, EventBinding } from '../api/records.js';
import { useEvents } from '../api/worlds.js';
import { NameLink } from '../ui/button.js';
import { Conflict } from '../ui/conflict.js';
import { Confirm, FormButton } from '../ui/dialog.js';
import { CheckList, named, SelectField, TextField } from '../ui/field.js';
import { Await, type Beside, ErrorNote, Said } from '../ui/messages.js';
import { Empty, Section } from '../ui/page.js';
import { SaveForm } from '../ui/save-form.js';
import { actionsColumn, type Column, Table } from '../ui/table.js';
import { Badges } from '../ui/values.js';
import {
  type Bound,
  changeOf,
  draftOfFilter,
  filterOf,
  filterWords,
  isLossOf,
  type PartDraft,
} from './binding-draft.js';
import { VersionSelect } from './version-select.js';

export function BindingsSection({ isLocked }: { isLocked: boolean }) {
  const ref = useDeploymentRef();
  const query = useBindings(ref);
  const events = useEvents(ref.world);
  const [said, setSaid] = useState<Beside>();
  const bound = new Set(query.data?.map(({ event }) => event));
  const unbound = (events.data?.data ?? []).filter(
    ({ name, latestVersion }) => !bound.has(name) && latestVersion !== null,
  );
  const add = !isLocked && unbound.length > 0 && (
    <FormButton verb="Bind an event" title="Bind an event" look="primary">
      {(close) => <BindingForm unbound={unbound} onClose={close} onSaid={setSaid} />}
    </FormButton>
  );
  const actions = actionsColumn<EventBinding>((binding) => (
    <BindingActions binding={binding} onSaid={setSaid} />
  ));
  return (
    <Section title="Bindings" lead="The events that this deployment runs, each in one version." actions={add}>
      <Said said={said} />
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
    className: 'min-w-40',
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

interface SaidProps {
  /** Called with what the service says beside its answer. */
  onSaid: (said: Beside) => void;
}

function BindingActions({ binding, onSaid }: SaidProps & { binding: EventBinding }) {
  const { event } = binding;
  const ref = useDeploymentRef();
  const unbind = useChange(
    (orrery) => orrery.delete(BINDINGS, { path: deploymentPath(ref), query: { event } }),
    [deploymentKey(ref)],
  );
  return (
    <div className="flex justify-end gap-2">
      <FormButton
        verb="Change"
        size="small"
        aria-label={`Change the binding of ${event}`}
        title={`Binding of ${event}`}
      >
        {(close) => <BindingForm binding={binding} onClose={close} onSaid={onSaid} />}
      </FormButton>
      <Confirm verb="Unbind" size="small" title={`Unbind ${event}?`} onConfirm={() => unbind.mutateAsync()}>
        The deployment no longer runs this event, and its schedule ends. It can be bound again.
      </Confirm>
    </div>
  );
}

interface BindingFormProps extends SaidProps {
  /** What is changed; without it one of the unbound events is bound. */
  binding?: EventBinding;
  unbound?: readonly Event[];
  onClose: () => void;
}

const UNBOUND: Bound = { eventVersion: 1, targetChains: [], onchain: null };

function BindingForm({ binding, unbound = [], onClose, onSaid }: BindingFormProps) {
  const [opened] = useState<Bound>(binding ?? UNBOUND);
  const [event, setEvent] = useState(binding?.event ?? unbound[0]?.name ?? '');
  const latest = unbound.find(({ name }) => name === event)?.latestVersion;
  const [chosen, setChosen] = useState<number>();
  const version = chosen ?? latest ?? opened.eventVersion;
  const [chains, setChains] = useState<readonly string[]>(opened.targetChains);
  const [filter, setFilter] = useState(() => draftOfFilter(opened.onchain));
  const wanted: Bound = { eventVersion: version, targetChains: [...chains], onchain: filterOf(filter) };
  const change = changeOf(opened, wanted);
  const saved = (answer: Beside) => {
    onSaid(answer);
    onClose();
  };
  const bind = useBind(saved);
  const rebind = useRebind(event, opened, saved);
  const isNew = binding === undefined;
  const save = isNew ? bind : rebind;
  const submit = () => {
    if (isNew) return bind.mutate({ event, ...wanted });
    // What was not changed is not sent: somebody else may have.
    return Object.keys(change).length === 0 ? onClose() : rebind.mutate({ change });
  };
  const { error } = rebind;
  return (
    <SaveForm
      verb={isNew ? 'Bind' : 'Save'}
      save={save}
      failed="It was not bound"
      onSubmit={submit}
      cancel={onClose}
      className="grid gap-4"
      conflict={
        error instanceof BoundSince && (
          <Conflict
            theirs={error.now}
            mine={{ ...error.now, ...change }}
            onOverwrite={() => rebind.mutate({ change, isOver: true })}
          />
        )
      }
    >
      {binding === undefined && (
        <SelectField
          label="Event"
          value={event}
          onChange={(next) => {
            setEvent(next);
            setChosen(undefined);
          }}
          options={named(unbound.map(({ name }) => name))}
        />
      )}
      <VersionSelect event={event} value={version} onChange={setChosen} />
      <Chains chosen={chains} onChange={setChains} />
      {chains.length > 0 && (
        <SelectField
          label="What to push"
          value={filter.what}
          onChange={(what) => setFilter({ ...filter, what })}
          options={[
            ['contents', 'each succeeded execution'],
            ['heads', 'the head of the journal, each hour'],
          ]}
        />
      )}
      {chains.length > 0 && filter.what === 'contents' && (
        <>
          <PartField
            label="Changes to push"
            hint="Attributes, as wins or horse.wins, parted by commas; or a JSON list."
            value={filter.stateChanges}
            onChange={(stateChanges) => setFilter({ ...filter, stateChanges })}
          />
          <PartField
            label="Result to push"
            hint="Members of the result, parted by commas; or a JSON list."
            value={filter.result}
            onChange={(result) => setFilter({ ...filter, result })}
          />
        </>
      )}
    </SaveForm>
  );
}

function useBind(done: (answer: Beside) => void) {
  const ref = useDeploymentRef();
  return useChange(
    (orrery, binding: Bound & Pick<EventBinding, 'event'>, once) =>
      orrery.answer('post', BINDINGS, once({ path: deploymentPath(ref), body: [binding] })),
    [deploymentKey(ref)],
    done,
  );
}

/** Somebody else has bound otherwise what the form changes. */
class BoundSince extends Error {
  constructor(readonly now: Bound) {
    super('Somebody else has changed the binding.');
  }
}

interface Rebinding {
  readonly change: Partial<Bound>;
  /** Whatever is bound now. */
  readonly isOver?: boolean;
}

/** Changes a binding as it was `opened`. Bindings have no ETag: what is bound now is read before. */
function useRebind(event: string, opened: Bound, done: (answer: Beside) => void) {
  const ref = useDeploymentRef();
  const path = deploymentPath(ref);
  return useChange(
    async (orrery, { change, isOver = false }: Rebinding) => {
      const [now] = [await orrery.get(BINDINGS, { path, query: { event } })].flat();
      if (!isOver && now !== undefined && isLossOf(now, opened, change)) throw new BoundSince(boundOf(now));
      return orrery.answer('put', BINDINGS, { path, body: [{ event, ...change }] });
    },
    [deploymentKey(ref)],
    done,
  );
}

const boundOf = ({ eventVersion, targetChains, onchain }: Bound): Bound => ({
  eventVersion,
  targetChains,
  onchain,
});

interface ChainsProps {
  chosen: readonly string[];
  onChange: (chains: readonly string[]) => void;
}

function Chains({ chosen, onChange }: ChainsProps) {
  const { data, error } = useChains();
  const names = new Set([...(data?.data ?? []).map(({ name }) => name), ...chosen]);
  return (
    <CheckList
      legend="Push to"
      options={Array.from(names, (value) => ({ value }))}
      chosen={chosen}
      onChange={onChange}
    >
      <ErrorNote error={error} title="The chains could not be read" />
      {names.size === 0 && <p className="text-sm text-muted">This server has no chain to push to.</p>}
    </CheckList>
  );
}

interface PartFieldProps {
  label: string;
  hint: string;
  value: PartDraft;
  onChange: (value: PartDraft) => void;
}

const PartField = ({ label, hint, value, onChange }: PartFieldProps) => (
  <div className="grid gap-2">
    <SelectField
      label={label}
      value={value.what}
      onChange={(what) => onChange({ ...value, what })}
      options={[
        ['all', 'all of it'],
        ['none', 'nothing'],
        ['some', 'only these:'],
      ]}
    />
    {value.what === 'some' && (
      <TextField
        label={`Names (${label.toLowerCase()})`}
        hint={hint}
        value={value.names}
        onChange={(names) => onChange({ ...value, names })}
        spellCheck={false}
      />
    )}
  </div>
);
