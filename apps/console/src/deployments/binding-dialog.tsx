import { useState } from 'react';
import { BINDINGS, deploymentKey, deploymentPath, useChains, useDeploymentRef } from '../api/deployments.js';
import type { Event, EventBinding } from '../api/records.js';
import { useChange } from '../api/use-change.js';
import { useVersions } from '../api/worlds.js';
import { FormDialog } from '../ui/dialog.js';
import { CheckField, SelectField, TextField } from '../ui/field.js';
import { ErrorNote } from '../ui/messages.js';
import { SaveForm } from '../ui/save-form.js';
import { draftOfFilter, filterOf, type PartDraft } from './onchain-draft.js';

export interface BindingDialogProps {
  /** Undefined: an event is to be bound. */
  binding: EventBinding | undefined;
  unbound: readonly Event[];
  onClose: () => void;
  /** `message`: what the service says beside its answer. */
  onDone: (message: string | undefined) => void;
}

export function BindingDialog({ binding, unbound, onClose, onDone }: BindingDialogProps) {
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
    ({ message }) => onDone(message),
  );
  return (
    <FormDialog
      title={binding === undefined ? 'Bind an event' : `Binding of ${event}`}
      open
      onClose={onClose}
    >
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
            options={unbound.map(({ name }) => [name, name])}
          />
        )}
        <VersionField event={event} value={version} onChange={setChosen} />
        <Chains value={chains} onChange={setChains} />
        {chains.length > 0 && (
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
    </FormDialog>
  );
}

interface FieldProps<Value> {
  value: Value;
  onChange: (value: Value) => void;
}

function VersionField({ event, value, onChange }: FieldProps<number> & { event: string }) {
  const { data, error } = useVersions({ world: useDeploymentRef().world, event });
  const numbers = new Set([...(data?.data ?? []).map(({ version }) => version), value]);
  return (
    <>
      <SelectField
        label="Version"
        value={String(value)}
        onChange={(next) => onChange(Number(next))}
        options={[...numbers].sort((a, b) => b - a).map((number) => [String(number), `version ${number}`])}
      />
      <ErrorNote error={error} title="The versions could not be read" />
    </>
  );
}

function Chains({ value, onChange }: FieldProps<readonly string[]>) {
  const { data, error } = useChains();
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

const PartField = ({
  label,
  hint,
  value,
  onChange,
}: FieldProps<PartDraft> & { label: string; hint: string }) => (
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
