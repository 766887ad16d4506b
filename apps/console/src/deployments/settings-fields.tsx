import { useQuery } from '@tanstack/react-query';
import { modelsQuery } from '../api/ai.js';
import { useOrrery } from '../session/use-session.js';
import { problemAt } from '../ui/error-note.js';
import { CheckField, SelectField, TextArea, TextField } from '../ui/field.js';
import type { FieldLabels } from '../ui/field-labels.js';
import type { SettingsDraft } from './settings-draft.js';

export interface SettingsFieldsProps {
  draft: SettingsDraft;
  onChange: (draft: SettingsDraft) => void;
  /** What the service said about them. */
  error: unknown;
  /** A locked deployment keeps its model. */
  isModelFixed?: boolean;
}

/** The labels of these fields, by pointers into the body. They show themselves what is wrong with them. */
export const SETTINGS_LABELS: FieldLabels = {
  '/name': 'Name',
  '/description': 'Description',
  '/aiModelId': 'Model of AI events',
  '/aiDailyBudgetUsd': 'Daily budget of models',
  '/payToAddress': 'Address that payments go to',
  '/isLLMPublic': 'Prompts and answers of models are public',
};

type Set = <K extends keyof SettingsDraft>(name: K) => (value: SettingsDraft[K]) => void;
const setterOf =
  ({ draft, onChange }: SettingsFieldsProps): Set =>
  (name) =>
  (value) =>
    onChange({ ...draft, [name]: value });

/** What the deployment is called, and what it is. */
export function NameFields(props: SettingsFieldsProps) {
  const { draft, error } = props;
  const set = setterOf(props);
  return (
    <div className="grid grid-cols-1 gap-4">
      <TextField
        label="Name"
        required
        className="max-w-xl"
        value={draft.name}
        onChange={set('name')}
        error={problemAt(error, '/name')}
      />
      <TextArea
        label="Description"
        rows={2}
        value={draft.description}
        onChange={set('description')}
        error={problemAt(error, '/description')}
      />
    </div>
  );
}

/** Its model and what that may cost, who is paid, and what others see of prompts. */
export function ModelAndPaymentFields(props: SettingsFieldsProps) {
  const { draft, error, isModelFixed = false } = props;
  const set = setterOf(props);
  return (
    <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
      <ModelField value={draft.aiModelId} onChange={set('aiModelId')} error={error} isFixed={isModelFixed} />
      <TextField
        label="Daily budget of models, in US dollars"
        inputMode="decimal"
        hint="Empty: no limit. Beyond it executions by models are refused until 00:00 UTC."
        value={draft.aiDailyBudgetUsd}
        onChange={set('aiDailyBudgetUsd')}
        error={problemAt(error, '/aiDailyBudgetUsd')}
      />
      <TextField
        label="Address that payments go to"
        hint="0x… for EVM chains, base58 for Solana. Without one nobody can pay for public events."
        value={draft.payToAddress}
        onChange={set('payToAddress')}
        error={problemAt(error, '/payToAddress')}
        spellCheck={false}
      />
      <CheckField
        label="Prompts and answers of models are public"
        hint="Others who can read the history see them."
        className="sm:mt-5"
        checked={draft.isLLMPublic}
        onChange={set('isLLMPublic')}
      />
    </div>
  );
}

interface ModelFieldProps {
  value: string;
  onChange: (value: string) => void;
  error: unknown;
  isFixed: boolean;
}

function ModelField({ value, onChange, error, isFixed }: ModelFieldProps) {
  const { data } = useQuery(modelsQuery(useOrrery()));
  const models = data?.data ?? [];
  const byDefault = models.find(({ isDefault }) => isDefault)?.modelDisplayName ?? 'none';
  const listed = models.map(({ modelId, modelDisplayName }) => [modelId, modelDisplayName] as const);
  const isListed = value === '' || models.some(({ modelId }) => modelId === value);
  return (
    <SelectField
      label="Model of AI events"
      hint={isFixed ? 'It was fixed by the lock.' : undefined}
      disabled={isFixed}
      value={value}
      onChange={onChange}
      options={[
        ['', `the server's default (${byDefault})`],
        ...listed,
        ...(isListed ? [] : [[value, `${value} (not in the list any more)`] as const]),
      ]}
      error={problemAt(error, '/aiModelId')}
    />
  );
}
