import type { WorldTexts } from '@orrery/contracts';
import type { Model } from './model.js';

export const world: WorldTexts = {
  name: 'Racing',
  description: 'Horses race.',
  domainTags: ['sport'],
  promptSeed: 'It rains a lot here.',
  hash: 'c'.repeat(64),
};

export const modelAt = (baseUrl: string, more: Partial<Model> = {}): Model => ({
  record: {
    modelId: 'racing/large',
    modelDisplayName: 'Large',
    modelDescription: 'For tests.',
    contextLength: 32_768,
    attestationSupported: false,
    verifiable: false,
    isDefault: true,
  },
  baseUrl,
  apiKey: 'sk-secret',
  upstreamModel: 'large-1',
  timeoutMs: 60_000,
  ...more,
});
