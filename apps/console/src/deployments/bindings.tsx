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
import { Confirm, FormButton } from '../ui/dialog.js';
import { CheckList, named, SelectField, TextField } from '../ui/field.js';
import { Await, type Beside, ErrorNote, Said } from '../ui/messages.js';
import { Empty, Section } from '../ui/page.js';
import { SaveForm } from '../ui/save-form.js';
import { actionsColumn, type Column, Table } from '../ui/table.js';
import { Badges } from '../ui/values.js';
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

function BindingForm({ binding, unbound = [], onClose, onSaid }: BindingFormProps) {
  const [event, setEvent] = useState(binding?.event ?? unbound[0]?.name ?? '');
  const latest = unbound.find(({ name }) => name === event)?.latestVersion;
  const [chosen, setChosen] = useState<number>();
  const version = chosen ?? binding?.eventVersion ?? latest ?? 1;
  const [chains, setChains] = useState<readonly string[]>(binding?.targetChains ?? []);
  const [filter, setFilter] = useState(() => draftOfFilter(binding?.onchain ?? null));
  const ref = useDeploymentRef();
  const save = useChange(
    (orrery) => {
      const body = { event, eventVersion: version, targetChains: [...chains], onchain: filterOf(filter) };
      const request = { path: deploymentPath(ref), body: [body] };
      return binding === undefined
        ? orrery.answer('post', BINDINGS, request)
        : orrery.answer('put', BINDINGS, request);
    },
    [deploymentKey(ref)],
    (answer) => {
      onSaid(answer);
      onClose();
    },
  );
  return (
    <SaveForm
      verb={binding === undefined ? 'Bind' : 'Save'}
      save={save}
      failed="It was not bound"
      onSubmit={() => save.mutate()}
      cancel={onClose}
      className="grid gap-4"
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
            hint="Attributes, as wins or horse.wins, parted by commas."
            value={filter.stateChanges}
            onChange={(stateChanges) => setFilter({ ...filter, stateChanges })}
          />
          <PartField
            label="Result to push"
            hint="Members of the result, parted by commas."
            value={filter.result}
            onChange={(result) => setFilter({ ...filter, result })}
          />
        </>
      )}
    </SaveForm>
  );
}

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

type Filter = NonNullable<EventBinding['onchain']>;

/** Which part of an execution is pushed: all of it, nothing, or some names. */
export interface PartDraft {
  readonly what: 'all' | 'none' | 'some';
  /** Names, parted by commas or spaces. */
  readonly names: string;
}
interface OnchainDraft {
  /** Executions, or only heads of the journal that cover them. */
  readonly what: 'contents' | 'heads';
  readonly stateChanges: PartDraft;
  readonly result: PartDraft;
}

export const draftOfFilter = (filter: Filter | null): OnchainDraft => ({
  what: filter?.head === undefined ? 'contents' : 'heads',
  stateChanges: partOf(filter?.stateChanges),
  result: partOf(filter?.result),
});

function partOf(names: readonly string[] | null | undefined): PartDraft {
  if (names === null || names === undefined) return { what: 'all', names: '' };
  return { what: names.length === 0 ? 'none' : 'some', names: names.join(', ') };
}

/** The filter of a draft; null where all is pushed. */
export function filterOf({ what, stateChanges, result }: OnchainDraft): Filter | null {
  if (what === 'heads') return { head: 'hourly' };
  if (stateChanges.what === 'all' && result.what === 'all') return null;
  return { stateChanges: namesOf(stateChanges), result: namesOf(result) };
}

function namesOf({ what, names }: PartDraft): string[] | null {
  if (what === 'all') return null;
  return what === 'none' ? [] : names.split(/[\s,]+/).filter((name) => name !== '');
}

export function filterWords(filter: Filter | null): string {
  const { what: kind, stateChanges, result } = draftOfFilter(filter);
  if (kind === 'heads') return 'the head, each hour';
  if (stateChanges.what === 'all' && result.what === 'all') return 'everything';
  const words = ({ what, names }: PartDraft) => (what === 'some' ? names : what);
  return `changes: ${words(stateChanges)}; result: ${words(result)}`;
}
