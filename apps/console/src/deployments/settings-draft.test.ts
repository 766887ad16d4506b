import { expect, it } from 'vitest';
import type { Deployment } from '../api/records.js';
import { changedSettings, draftOfSettings, EMPTY_SETTINGS, editsOf, settingsOf } from './settings-fields.js';

const deployment = {
  name: 'Season 1',
  description: null,
  aiModelId: 'orrery/sampler',
  aiDailyBudgetUsd: 2.5,
  payToAddress: null,
  isLLMPublic: false,
  isCodePublic: false,
} as Deployment;

it('changes nothing as long as nothing was edited', () => {
  expect(changedSettings(deployment, draftOfSettings(deployment))).toEqual({});
});

it('sends what was edited alone, and null for what was emptied', () => {
  const draft = {
    ...draftOfSettings(deployment),
    name: ' Season 2 ',
    aiModelId: '',
    aiDailyBudgetUsd: '0',
    isLLMPublic: true,
  };
  expect(changedSettings(deployment, draft)).toEqual({
    name: 'Season 2',
    aiModelId: null,
    aiDailyBudgetUsd: 0,
    isLLMPublic: true,
  });
});

it('lets the service say what is wrong with a budget', () => {
  expect(settingsOf({ ...EMPTY_SETTINGS, aiDailyBudgetUsd: 'much' }).aiDailyBudgetUsd).toBe('much');
});

it('knows what was edited', () => {
  const stored = draftOfSettings(deployment);
  expect(editsOf(stored, { ...stored, name: 'B', aiDailyBudgetUsd: '2.5' })).toEqual({ name: 'B' });
});
