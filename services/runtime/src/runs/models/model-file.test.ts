import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openModelFile } from './model-file.js';

const env = { OPENAI_API_KEY: 'sk-secret', EMPTY_KEY: '' };
const local = {
  modelId: 'local',
  modelDisplayName: 'Local',
  modelDescription: 'Runs here.',
  contextLength: 8192,
  attestationSupported: false,
  verifiable: false,
  isDefault: true,
  baseUrl: 'http://127.0.0.1:11434/v1/',
  apiKeyEnv: null,
};
const hosted = {
  ...local,
  modelId: 'hosted',
  isDefault: false,
  baseUrl: 'https://api.example.com/v1',
  apiKeyEnv: 'OPENAI_API_KEY',
  upstreamModel: 'large-4',
  inputUsdPerMillionTokens: 0.4,
  outputUsdPerMillionTokens: 1.6,
  timeoutMs: 30_000,
  maxConcurrency: 4,
  attestation: { from: 'header', name: 'x-attestation' },
};

function open(content: unknown) {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-models-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'models.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return openModelFile(path, env);
}

function problemsOf(content: unknown): string {
  try {
    open(content);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('accepted');
}

describe('the list of models', () => {
  it('gives each model its record, address and key', () => {
    const { baseUrl: _, apiKeyEnv: __, ...record } = local;
    const { models } = open([local, hosted]);
    expect(models).toEqual([
      {
        record,
        baseUrl: 'http://127.0.0.1:11434/v1',
        apiKey: undefined,
        upstreamModel: 'local',
        timeoutMs: 60_000,
      },
      {
        record: { ...record, modelId: 'hosted', isDefault: false },
        baseUrl: 'https://api.example.com/v1',
        apiKey: 'sk-secret',
        upstreamModel: 'large-4',
        inputUsdPerMillionTokens: 0.4,
        outputUsdPerMillionTokens: 1.6,
        timeoutMs: 30_000,
        maxConcurrency: 4,
        attestation: { from: 'header', name: 'x-attestation' },
      },
    ]);
  });

  it('may be empty, and may name no key', () => {
    expect(open([]).models).toEqual([]);
    const { apiKeyEnv: _, ...keyless } = local;
    expect(open([keyless]).models[0]?.apiKey).toBeUndefined();
  });

  it.each(['x attestation', 'x-attestation:', 'x-été', 'x\n'])('knows no header %j', (name) => {
    const carrying = (from: string) => [{ ...local, attestation: { from, name } }];
    expect(problemsOf(carrying('header'))).toContain(
      '/0/attestation/name is missing or wrong (expected { "from": "header" or "body", "name": … }, where a header has',
    );
    expect(open(carrying('body')).models).toHaveLength(1);
  });

  it('names all problems at once, each with its place, and no secret', () => {
    const message = problemsOf([
      { ...local, contextLength: 0, baseUrl: 'ollama', colour: 'red' },
      { ...hosted, isDefault: true, apiKeyEnv: 'EMPTY_KEY', outputUsdPerMillionTokens: -1 },
      { ...hosted, apiKeyEnv: 'sk-pasted here', attestation: { from: 'trailer', name: '' } },
      { modelDisplayName: 'x' },
      'gpt',
    ]);
    for (const problem of [
      '/0/contextLength is missing or wrong (expected a number of tokens from 1 to 1000000000)',
      '/0/baseUrl is missing or wrong (expected an http or https address such as',
      '/0/colour is no member of a model',
      '/1/apiKeyEnv names the environment variable EMPTY_KEY, which is not set',
      '/1/outputUsdPerMillionTokens is missing or wrong (expected an amount in US dollars',
      '/2/apiKeyEnv is missing or wrong (expected the name of an environment variable',
      '/2/attestation/from is missing or wrong',
      '/2/attestation/name is missing or wrong',
      '/2/modelId is that of /1 again',
      '/3/modelId is missing or wrong (expected an id of at most 255 characters)',
      '/3/isDefault is missing or wrong (expected true or false)',
      '/4 is missing or wrong (expected an object)',
      '/0 and /1 are the default (expected one at most)',
    ])
      expect(message).toContain(problem);
    expect(message).toMatch(/^Correct these environment variables and start again: AI_MODELS_FILE \(/);
    expect(message).not.toMatch(/sk-|\n/);
  });

  it.each([
    ['no array', '{}', 'the file is no array of at most 1000 models'],
    ['no JSON', '[{"apiKey": sk-pasted}]', 'the file is no JSON'],
    ['nothing', '', 'the file is no JSON (it breaks at its end)'],
    ['an unfinished list', '[{"modelId": "a"}\n', 'the file is no JSON (it breaks at '],
    [
      'credentials in an address',
      [{ ...local, baseUrl: 'https://u:sk-1@h/v1' }],
      '/0/baseUrl is missing or wrong',
    ],
    [
      'a query in an address',
      [{ ...local, baseUrl: 'https://h/v1?key=sk-1' }],
      '/0/baseUrl is missing or wrong',
    ],
    ['another protocol', [{ ...local, baseUrl: 'file:///etc/passwd' }], '/0/baseUrl is missing or wrong'],
  ])('refuses %s', (_, content, problem) => {
    const message = problemsOf(content);
    expect(message).toContain(problem);
    expect(message).not.toMatch(/sk-/);
  });

  it('says that a file is missing', () => {
    const missing = () => openModelFile('/nowhere/models.json', env);
    expect(missing).toThrow('AI_MODELS_FILE (/nowhere/models.json: the file cannot be read (ENOENT))');
  });
});
