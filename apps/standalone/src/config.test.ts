import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStandaloneSettings } from './config.js';

const read = (env: Record<string, string>) => readStandaloneSettings(env, () => undefined);

const deployed = (name: string) => resolve(import.meta.dirname, `../../../deploy/${name}.json`);

describe('the settings of the all-in-one', () => {
  it('need nothing', () => {
    expect(read({})).toMatchObject({
      dataDirectory: resolve('.orrery'),
      databaseUrl: undefined,
      natsUrl: undefined,
      gateway: { host: '127.0.0.1', port: 3000, redisUrl: undefined },
    });
  });

  it.each([
    ['ai-models.example', 2],
    ['ai-models/ollama', 1],
    ['ai-models/vllm', 1],
    ['ai-models/llama-cpp', 1],
    ['ai-models/hosted', 1],
  ])('take the list deploy/%s.json', (name, count) => {
    const env = { AI_MODELS_FILE: deployed(name), OPENAI_API_KEY: 'x' };
    const { models } = read(env).runtime;
    expect(models).toHaveLength(count);
    expect(models[0]?.record.isDefault).toBe(true);
  });

  it('offer the sampler only where nothing is given that a model list or another process could come from', () => {
    expect(read({}).sampler).toBe(true);
    expect(read({ DATABASE_URL: 'postgres://db/orrery' }).sampler).toBe(false);
    expect(read({ NATS_URL: 'nats://bus' }).sampler).toBe(false);
    const example = deployed('ai-models.example');
    const env = { AI_MODELS_FILE: example, OPENAI_API_KEY: 'x' };
    expect(read(env)).toMatchObject({ sampler: false, runtime: { modelFile: { path: example } } });
  });

  it('name journals by the host that callers know, whatever the port', () => {
    expect(read({ PORT: '4000' }).publicHost).toBe('localhost');
    expect(read({ PUBLIC_URL: 'https://worlds.example/' }).publicHost).toBe('worlds.example');
  });

  it('are personal where nobody else can come', () => {
    expect(read({}).isPersonal).toBe(true);
    expect(read({ HOST: '::1', PORT: '4000' }).isPersonal).toBe(true);
    for (const env of [
      { HOST: '0.0.0.0' },
      { DATABASE_URL: 'postgres://db/orrery' },
      { NATS_URL: 'nats://bus' },
    ])
      expect(read(env).isPersonal).toBe(false);
  });

  it.each<Record<string, string>>([
    {},
    { HOST: 'localhost' },
    { HOST: '::1' },
    { HOST: '' },
    { RATE_LIMITS: '' },
    { TRUST_PROXY: 'false', SIGN_UP: 'closed' },
  ])('limit no rates on a loopback address: %o', (env) => {
    expect(read(env).gateway.rates).toBeUndefined();
  });

  it.each<Record<string, string>>([
    { HOST: '0.0.0.0' },
    { RATE_LIMITS: 'true' },
    { DATABASE_URL: 'postgres://db/orrery' },
    { PUBLIC_URL: 'https://worlds.example' },
    { TRUST_PROXY: 'loopback' },
    { SIGN_UP: 'open' },
  ])('limit rates where others can come, or where asked to: %o', (env) => {
    expect(read(env).gateway.rates).toMatchObject({ key: { perSecond: 100, burst: 500 } });
  });
});
