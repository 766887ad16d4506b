import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { EventBinding } from '../api/bindings.js';
import { versionsQuery } from '../api/events.js';
import { chainsQuery } from '../api/pushes.js';
import type { Event } from '../api/records.js';
import { useOrrery } from '../session/use-session.js';
import { Button } from '../ui/button.js';
import { Actions } from '../ui/dialog.js';
import { ErrorNote } from '../ui/error-note.js';
import { CheckField, SelectField, TextField } from '../ui/field.js';
import { Form } from '../ui/form.js';
import { FormDialog } from '../ui/form-dialog.js';
import { draftOfFilter, filterOf, type OnchainDraft, type PartDraft } from './onchain-draft.js';
import { useBindingRequests } from './use-binding-requests.js';
import { useDeploymentRef } from './use-deployment-ref.js';

export interface BindingDialogProps {
  /** Undefined: an event is to be bound. */
  binding: EventBinding | undefined;
  unbound: readonly Event[];
  onClose: () => void;
  onDone: (message: string | undefined) => void;
}

/** Binds an event, or changes how it is bound. */
export function BindingDialog({ binding, unbound, onClose, onDone }: BindingDialogProps) {
  const [event, setEvent] = useState(binding?.event ?? unbound[0]?.name ?? '');
  const latest = unbound.find(({ name }) => name === event)?.latestVersion;
  const [chosen, setChosen] = useState<number>();
  const version = chosen ?? binding?.eventVersion ?? latest ?? 1;
  const [chains, setChains] = useState<readonly string[]>(binding?.targetChains ?? []);
  const [filter, setFilter] = useState(() => draftOfFilter(binding?.onchain ?? null));
  const { bind, change } = useBindingRequests();
  const save = useMutation({
    mutationFn: () => {
      const body = { event, eventVersion: version, targetChains: [...chains], onchain: filterOf(filter) };
      return binding === undefined ? bind(body) : change(body);
    },
    onSuccess: onDone,
  });
  const submit = () => {
    save.mutate();
  };
  return (
    <FormDialog
      title={binding === undefined ? 'Bind an event' : `Binding of ${event}`}
      open
      onClose={onClose}
    >
      <Form onSubmit={submit} className="grid gap-4">
        {binding === undefined && (
          <SelectField
            label="Event"
            value={event}
            onChange={(next) => {
              setEvent(next);
              setChosen(undefined);
            }}
            options={unbound.map(({ name }) => [name, name])}
          />
        )}
        <VersionField event={event} value={version} onChange={setChosen} />
        <Chains value={chains} onChange={setChains} />
        {chains.length > 0 && <FilterFields value={filter} onChange={setFilter} />}
        <ErrorNote error={save.error} title="It was not bound" />
        <Actions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" pending={save.isPending}>
            {binding === undefined ? 'Bind' : 'Save'}
          </Button>
        </Actions>
      </Form>
    </FormDialog>
  );
}

interface VersionFieldProps {
  event: string;
  value: number;
  onChange: (version: number) => void;
}

function VersionField({ event, value, onChange }: VersionFieldProps) {
  const { data, error } = useQuery(versionsQuery(useOrrery(), useDeploymentRef().world, event));
  const numbers = data?.data.map(({ version }) => version) ?? [value];
  const listed = numbers.includes(value) ? numbers : [...numbers, value];
  return (
    <>
      <SelectField
        label="Version"
        value={String(value)}
        onChange={(next) => onChange(Number(next))}
        options={listed.toSorted((a, b) => b - a).map((number) => [String(number), `version ${number}`])}
      />
      <ErrorNote error={error} title="The versions could not be read" />
    </>
  );
}

function Chains({
  value,
  onChange,
}: {
  value: readonly string[];
  onChange: (chains: readonly string[]) => void;
}) {
  const { data, error } = useQuery(chainsQuery(useOrrery()));
  const names = [...new Set([...(data?.data ?? []).map(({ name }) => name), ...value])];
  return (
    <fieldset>
      <legend className="mb-1 font-medium">Push each succeeded execution to</legend>
      <ErrorNote error={error} title="The chains could not be read" />
      {names.length === 0 && <p className="text-sm text-muted">This server has no chain to push to.</p>}
      {names.map((name) => (
        <CheckField
          key={name}
          label={name}
          checked={value.includes(name)}
          onChange={(checked) => onChange(checked ? [...value, name] : value.filter((one) => one !== name))}
        />
      ))}
    </fieldset>
  );
}

const FilterFields = ({
  value,
  onChange,
}: {
  value: OnchainDraft;
  onChange: (value: OnchainDraft) => void;
}) => (
  <>
    <PartField
      label="Changes to push"
      hint="Attributes, as wins or horse.wins, parted by commas."
      value={value.stateChanges}
      onChange={(stateChanges) => onChange({ ...value, stateChanges })}
    />
    <PartField
      label="Result to push"
      hint="Members of the result, parted by commas."
      value={value.result}
      onChange={(result) => onChange({ ...value, result })}
    />
  </>
);

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
