import { useModels } from '../api/deployments.js';
import { CheckField, SelectField, TextArea, TextField } from '../ui/field.js';
import type { FieldLabels } from '../ui/pointers.js';
import type { fieldOf } from '../ui/save-form.js';
import type { SettingsDraft } from './settings-draft.js';

/** The labels of these fields, by pointers into the body. They show themselves what is wrong with them. */
export const SETTINGS_LABELS: FieldLabels = {
  '/name': 'Name',
  '/description': 'Description',
  '/aiModelId': 'Model of AI events',
  '/aiDailyBudgetUsd': 'Daily budget of models',
  '/payToAddress': 'Address that payments go to',
  '/isLLMPublic': 'Prompts and answers of models are public',
};

interface SettingsFieldsProps {
  field: ReturnType<typeof fieldOf<SettingsDraft>>;
  /** A locked deployment keeps its model. */
  isModelFixed?: boolean;
}

export const NameFields = ({ field }: SettingsFieldsProps) => (
  <div className="grid grid-cols-1 gap-4">
    <TextField {...field('name')} required className="max-w-xl" />
    <TextArea {...field('description')} rows={2} />
  </div>
);

export function ModelAndPaymentFields(props: SettingsFieldsProps) {
  const { field } = props;
  const { label, value, onChange } = field('isLLMPublic');
  return (
    <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
      <ModelField {...props} />
      <TextField
        {...field('aiDailyBudgetUsd')}
        label="Daily budget of models, in US dollars"
        inputMode="decimal"
        hint="Empty: no limit. Beyond it executions by models are refused until 00:00 UTC."
      />
      <TextField
        {...field('payToAddress')}
        hint="0x… for EVM chains, base58 for Solana. Without one nobody can pay for public events."
        spellCheck={false}
      />
      <CheckField
        label={label}
        hint="Others who can read the history see them."
        className="sm:mt-5"
        checked={value}
        onChange={onChange}
      />
    </div>
  );
}

function ModelField({ field, isModelFixed = false }: SettingsFieldsProps) {
  const { value, ...about } = field('aiModelId');
  const models = useModels().data?.data ?? [];
  const byDefault = models.find(({ isDefault }) => isDefault)?.modelDisplayName ?? 'none';
  const isListed = value === '' || models.some(({ modelId }) => modelId === value);
  return (
    <SelectField
      {...about}
      value={value}
      hint={isModelFixed ? 'It was fixed by the lock.' : undefined}
      disabled={isModelFixed}
      options={[
        ['', `the server's default (${byDefault})`],
        ...models.map(({ modelId, modelDisplayName }) => [modelId, modelDisplayName] as const),
        ...(isListed ? [] : [[value, `${value} (not in the list any more)`] as const]),
      ]}
    />
  );
}
