import type { components } from '@orrery/sdk';
import { useModels } from '../api/deployments.js';
import type { Deployment } from '../api/records.js';
import { CheckField, SelectField, TextArea, TextField } from '../ui/field.js';
import type { FieldLabels } from '../ui/messages.js';
import type { fieldOf } from '../ui/save-form.js';

/** The labels of these fields, by pointers into the body. They show themselves what is wrong with them. */
export const SETTINGS_LABELS: FieldLabels = {
  '/name': 'Name',
  '/description': 'Description',
  '/aiModelId': 'Model of AI events',
  '/aiDailyBudgetUsd': 'Daily budget of models',
  '/payToAddress': 'Address that payments go to',
  '/isLLMPublic': 'Prompts and answers of models are public',
  '/isCodePublic': 'Definitions are public',
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
        hint="payToAddress: 0x… for EVM chains, base58 for Solana. Without one nobody can pay for public events."
        spellCheck={false}
      />
      <PublicField {...field('isLLMPublic')} hint="Others who can read the history see them." />
      <PublicField
        {...field('isCodePublic')}
        hint="Others who can read the history read templates and prompts that it has executed, and can decide it again."
      />
    </div>
  );
}

function PublicField({
  label,
  hint,
  value,
  onChange,
}: {
  label: string;
  hint: string;
  value: boolean;
  onChange: (value: boolean) => void;
}) {
  return <CheckField label={label} hint={hint} className="sm:mt-5" checked={value} onChange={onChange} />;
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

type Settings = components['schemas']['DeploymentSettings'];

/** The settings of a deployment as texts of a form; an empty text stands for null. */
export const EMPTY_SETTINGS = {
  name: '',
  description: '',
  aiModelId: '',
  aiDailyBudgetUsd: '',
  payToAddress: '',
  isLLMPublic: false,
  isCodePublic: false,
};
export type SettingsDraft = Readonly<typeof EMPTY_SETTINGS>;

export const draftOfSettings = (deployment: Deployment): SettingsDraft => ({
  name: deployment.name,
  description: deployment.description ?? '',
  aiModelId: deployment.aiModelId ?? '',
  aiDailyBudgetUsd: deployment.aiDailyBudgetUsd === null ? '' : String(deployment.aiDailyBudgetUsd),
  payToAddress: deployment.payToAddress ?? '',
  isLLMPublic: deployment.isLLMPublic,
  isCodePublic: deployment.isCodePublic,
});

export const editsOf = (stored: SettingsDraft, draft: SettingsDraft): Partial<SettingsDraft> =>
  Object.fromEntries(
    Object.entries(draft).filter(([name, value]) => stored[name as keyof SettingsDraft] !== value),
  );

/** All settings of a draft; whether a what-if fork is kept is no part of it. A budget that is no number goes to the service as text, which says what is wrong with it. */
export function settingsOf(draft: SettingsDraft): Required<Omit<Settings, 'isKept'>> {
  const textOrNull = (text: string) => (text.trim() === '' ? null : text.trim());
  const budget = draft.aiDailyBudgetUsd.trim();
  const number = Number(budget);
  return {
    name: draft.name.trim(),
    description: draft.description.trim() === '' ? null : draft.description,
    aiModelId: textOrNull(draft.aiModelId),
    aiDailyBudgetUsd: budget === '' ? null : Number.isFinite(number) ? number : (budget as unknown as number),
    payToAddress: textOrNull(draft.payToAddress),
    isLLMPublic: draft.isLLMPublic,
    isCodePublic: draft.isCodePublic,
  };
}

export function changedSettings(deployment: Deployment, draft: SettingsDraft): Settings {
  const [before, after] = [settingsOf(draftOfSettings(deployment)), settingsOf(draft)];
  const changed = Object.entries(after).filter(
    ([name, value]) => before[name as keyof typeof before] !== value,
  );
  return Object.fromEntries(changed);
}
