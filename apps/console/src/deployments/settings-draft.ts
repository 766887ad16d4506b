import type { components } from '@orrery/sdk';
import type { Deployment } from '../api/records.js';

type Settings = components['schemas']['DeploymentSettings'];

/** The settings of a deployment as texts of a form; an empty text stands for null. */
export const EMPTY_SETTINGS = {
  name: '',
  description: '',
  aiModelId: '',
  aiDailyBudgetUsd: '',
  payToAddress: '',
  isLLMPublic: false,
};
export type SettingsDraft = Readonly<typeof EMPTY_SETTINGS>;

export const draftOfSettings = (deployment: Deployment): SettingsDraft => ({
  name: deployment.name,
  description: deployment.description ?? '',
  aiModelId: deployment.aiModelId ?? '',
  aiDailyBudgetUsd: deployment.aiDailyBudgetUsd === null ? '' : String(deployment.aiDailyBudgetUsd),
  payToAddress: deployment.payToAddress ?? '',
  isLLMPublic: deployment.isLLMPublic,
});

export const editsOf = (stored: SettingsDraft, draft: SettingsDraft): Partial<SettingsDraft> =>
  Object.fromEntries(
    Object.entries(draft).filter(([name, value]) => stored[name as keyof SettingsDraft] !== value),
  );

/** All settings of a draft. A budget that is no number goes to the service as text, which says what is wrong with it. */
export function settingsOf(draft: SettingsDraft): Required<Settings> {
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
  };
}

export function changedSettings(deployment: Deployment, draft: SettingsDraft): Settings {
  const [before, after] = [settingsOf(draftOfSettings(deployment)), settingsOf(draft)];
  const changed = Object.entries(after).filter(([name, value]) => before[name as keyof Settings] !== value);
  return Object.fromEntries(changed);
}
