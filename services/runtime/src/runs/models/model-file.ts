import { readFileSync } from 'node:fs';
import {
  type AiModelRecord,
  childPointer,
  isCleanText,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  toPointer,
} from '@orrery/contracts';
import { type Environment, EnvironmentError } from '@orrery/service-kit';
import { z } from 'zod';
import type { Model } from '../../core/models/model.js';

/** The operator's list of models (docs/ai.md), as it was at the start. */
export interface ModelFile {
  readonly path: string;
  readonly text: string;
  /** Reads the text of a list. @throws ModelFileError */
  readonly parse: (text: string) => readonly Model[];
}

/** A list of models is not usable: one phrase for each problem, with its path (RFC 6901). It holds no secret. */
export class ModelFileError extends Error {
  override readonly name = 'ModelFileError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_MODELS = 1000;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const DOLLARS = 'an amount in US dollars for a million tokens, from 0 to 1000000';
const text = (max: number, what: string) =>
  z.string().max(max).refine(isCleanText).describe(`${what} of at most ${max} characters`);
const named = (max: number, what: string) => text(max, what).min(1);
const whole = (min: number, max: number, what: string) =>
  z.int().min(min).max(max).describe(`${what} from ${min} to ${max}`);

const listedModel = z.strictObject({
  modelId: named(255, 'an id'),
  modelDisplayName: named(255, 'a name'),
  modelDescription: text(4096, 'a text'),
  contextLength: whole(1, 1_000_000_000, 'a number of tokens'),
  attestationSupported: z.boolean(),
  verifiable: z.boolean(),
  isDefault: z.boolean(),
  baseUrl: z
    .string()
    .refine(isBaseUrl)
    .describe('an http or https address such as http://127.0.0.1:11434/v1, without credentials and query'),
  apiKeyEnv: z
    .string()
    .regex(VARIABLE)
    .nullish()
    .describe(
      'the name of an environment variable that holds the key, or null for a server that asks for none',
    ),
  upstreamModel: named(255, "the model's name at its server").optional(),
  inputUsdPerMillionTokens: z.number().min(0).max(1_000_000).optional().describe(DOLLARS),
  outputUsdPerMillionTokens: z.number().min(0).max(1_000_000).optional().describe(DOLLARS),
  timeoutMs: whole(100, 600_000, 'milliseconds').optional(),
  maxConcurrency: whole(1, 10_000, 'a number of calls').optional(),
  attestation: z
    .strictObject({ from: z.enum(['header', 'body']), name: named(255, 'a name') })
    .optional()
    .describe('{ "from": "header" or "body", "name": … }'),
});
type ListedModel = z.output<typeof listedModel>;

function isBaseUrl(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}

/** Opens the list that the environment names. @throws EnvironmentError with all problems of the list */
export function openModelFile(
  path: string,
  env: Environment,
): ModelFile & { readonly models: readonly Model[] } {
  const parse = (given: string) => parseModels(given, env);
  try {
    const read = readList(path);
    return { path, text: read, parse, models: parse(read) };
  } catch (error) {
    if (!(error instanceof ModelFileError)) throw error;
    throw new EnvironmentError([`AI_MODELS_FILE (${path}: ${error.message})`]);
  }
}

/** @throws ModelFileError when the file cannot be read */
export function readList(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ModelFileError([`the file cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
}

function parseModels(given: string, env: Environment): readonly Model[] {
  const listed = parseJson(given);
  if (!Array.isArray(listed) || listed.length > MAX_MODELS)
    throw new ModelFileError([`the file is no array of at most ${MAX_MODELS} models`]);
  const read = listed.map((one) => listedModel.safeParse(one));
  const problems = [
    ...read.flatMap(({ error }, at) => (error?.issues ?? []).flatMap((issue) => problemsOf(issue, at))),
    ...listed.flatMap((one, at) => (isJsonObject(one) ? problemsOfModel(one, at, env) : [])),
    ...problemsOfList(listed.map((one) => (isJsonObject(one) ? one : {}))),
  ];
  if (problems.length > 0) throw new ModelFileError(problems);
  return read.flatMap(({ data }) => (data === undefined ? [] : [modelOf(data, env)]));
}

const NO_JSON = 'the file is no JSON';

/** Says where the text breaks, if that is known, and never what stands there: somebody may have written a key into it. */
function parseJson(given: string): JsonValue {
  try {
    return JSON.parse(given);
  } catch (error) {
    const { message } = error as Error;
    const [known] = /line \d+ column \d+|position \d+/.exec(message) ?? [];
    const position = known ?? (/end of JSON/.test(message) ? 'its end' : undefined);
    throw new ModelFileError([position === undefined ? NO_JSON : `${NO_JSON} (it breaks at ${position})`]);
  }
}

function problemsOf(issue: z.core.$ZodIssue, at: number): string[] {
  const path = toPointer([at, ...issue.path]);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${childPointer(path, key)} is no member of a model`);
  const [member] = issue.path;
  const expected = member === undefined ? 'an object' : descriptionOf(String(member));
  return [`${path} is missing or wrong (expected ${expected})`];
}

/** A description stays on the schema it was given to: look below `.optional()` and `.nullish()`. */
function descriptionOf(member: string): string {
  let schema: z.core.$ZodType | undefined = listedModel.shape[member as keyof typeof listedModel.shape];
  while (schema !== undefined) {
    const { description } = schema as { description?: string };
    if (description !== undefined) return description;
    schema = (schema._zod.def as { innerType?: z.core.$ZodType }).innerType;
  }
  return 'true or false';
}

function problemsOfModel({ apiKeyEnv }: JsonObject, at: number, env: Environment): string[] {
  if (typeof apiKeyEnv !== 'string' || !VARIABLE.test(apiKeyEnv) || env[apiKeyEnv]) return [];
  return [`/${at}/apiKeyEnv names the environment variable ${apiKeyEnv}, which is not set`];
}

function problemsOfList(listed: readonly JsonObject[]): string[] {
  const defaults = listed.flatMap(({ isDefault }, at) => (isDefault === true ? [`/${at}`] : []));
  const ids = listed.map(({ modelId }) => modelId);
  const problems = ids.flatMap((id, at) =>
    id !== undefined && ids.indexOf(id) < at ? [`/${at}/modelId is that of /${ids.indexOf(id)} again`] : [],
  );
  if (defaults.length > 1) problems.push(`${defaults.join(' and ')} are the default (expected one at most)`);
  return problems;
}

function modelOf(listed: ListedModel, env: Environment): Model {
  const { inputUsdPerMillionTokens, outputUsdPerMillionTokens, maxConcurrency, attestation } = listed;
  return {
    record: recordOf(listed),
    baseUrl: listed.baseUrl.replace(/\/+$/, ''),
    apiKey: listed.apiKeyEnv ? env[listed.apiKeyEnv] : undefined,
    upstreamModel: listed.upstreamModel ?? listed.modelId,
    timeoutMs: listed.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    ...(inputUsdPerMillionTokens !== undefined && { inputUsdPerMillionTokens }),
    ...(outputUsdPerMillionTokens !== undefined && { outputUsdPerMillionTokens }),
    ...(maxConcurrency !== undefined && { maxConcurrency }),
    ...(attestation !== undefined && { attestation }),
  };
}

/** What callers see, and nothing else: neither addresses nor names of keys. */
const recordOf = (listed: ListedModel): AiModelRecord => ({
  modelId: listed.modelId,
  modelDisplayName: listed.modelDisplayName,
  modelDescription: listed.modelDescription,
  contextLength: listed.contextLength,
  attestationSupported: listed.attestationSupported,
  verifiable: listed.verifiable,
  isDefault: listed.isDefault,
});
