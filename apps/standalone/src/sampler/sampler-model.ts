import type { Model } from '@orrery/runtime';
import type { Resources } from '@orrery/service-kit';
import { SAMPLER_MODEL, startSamplerServer } from './sampler-server.js';

/** Starts the sampler's server and gives the model that it serves (docs/adr/0018). */
export async function startSampler(resources: Resources): Promise<Model> {
  const { baseUrl, apiKey } = resources.use('sampler', await startSamplerServer());
  return {
    record: {
      modelId: SAMPLER_MODEL,
      modelDisplayName: 'Orrery sampler',
      modelDescription:
        'A sampler for trying things out, and no language model: it draws values that fit the requested schema at random and understands nothing of the prompt.',
      contextLength: 131_072,
      attestationSupported: false,
      verifiable: false,
      isDefault: true,
    },
    baseUrl,
    apiKey,
    upstreamModel: SAMPLER_MODEL,
    inputUsdPerMillionTokens: 0,
    outputUsdPerMillionTokens: 0,
    timeoutMs: 10_000,
  };
}
