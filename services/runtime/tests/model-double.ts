import type { RuntimeConfig } from '@orrery/runtime';

type Model = RuntimeConfig['models'][number];

/** A model of the list whose server is never reached. */
export const modelNamed = (modelId: string, isDefault = false): Model => ({
  record: {
    modelId,
    modelDisplayName: modelId,
    modelDescription: 'Stands in for a model.',
    contextLength: 8192,
    attestationSupported: false,
    verifiable: false,
    isDefault,
  },
  baseUrl: 'http://127.0.0.1:9/v1',
  apiKey: undefined,
  upstreamModel: modelId,
  timeoutMs: 600_000,
});
