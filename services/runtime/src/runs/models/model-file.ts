import { type FSWatcher, readFileSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import {
  type AiModelRecord,
  childPointer,
  isCleanText,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  toPointer,
} from '@orrery/contracts';
import {
  type Clock,
  type Environment,
  EnvironmentError,
  type Logger,
  type PollLoop,
  startPollLoop,
} from '@orrery/service-kit';
import { z } from 'zod';
import type { Model, ModelList } from '../../core/prompting/model.js';

/** The operator's list of models (docs/ai.md), as it was at the start. */
export interface ModelFile {
  readonly path: string;
  readonly text: string;
  /** Reads the text of a list. @throws ModelFileError */
  readonly parse: (text: string) => readonly Model[];
}

/** A list of models is not usable: one phrase for each problem, with its path (RFC 6901). It holds no secret. */
class ModelFileError extends Error {
  override readonly name = 'ModelFileError';

  constructor(readonly problems: readonly string[]) {
    super(problems.join('; '));
  }
}

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_MODELS = 1000;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** The name of a header (RFC 9110 §5.6.2). */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
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
    // No answer could be read by a name that no header can have.
    .refine(({ from, name }) => from === 'body' || HEADER_NAME.test(name), { path: ['name'] })
    .optional()
    .describe('{ "from": "header" or "body", "name": … }, where a header has a name as of RFC 9110'),
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
function readList(path: string): string {
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

/** The file is read this often even if nothing says that it has changed, in milliseconds. */
const INTERVAL_MS = 5000;
/** A program that writes the file needs some time until it is whole, in milliseconds. */
const REST_MS = 100;

/**
 * Reads the list of models again after the file has changed, or after SIGHUP. What is compared is the text: a symbolic
 * link that leads elsewhere (a ConfigMap of Kubernetes) and a file that was replaced count too. A text that is no list
 * changes nothing. It is reported once, when it was seen twice: the first time somebody may be writing it.
 * @param options.host says by SIGHUP that the list is to be read again; left out at a terminal, which ends a process by
 * this signal
 */
export function startFollowingModelFile({
  file,
  models,
  clock,
  logger,
  host,
}: {
  readonly file: ModelFile;
  readonly models: ModelList;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly host: Pick<NodeJS.Process, 'on' | 'off'> | undefined;
}): PollLoop {
  let known = file.text;
  let refused: { readonly text: string; readonly isReported: boolean } | undefined;

  const look = (): void => {
    let text = '';
    try {
      text = readList(file.path);
      if (text !== known) {
        models.offered = file.parse(text);
        logger.info(
          { file: file.path, models: models.offered.length },
          'the list of AI models was read again',
        );
      }
      known = text;
      refused = undefined;
    } catch (error) {
      if (!(error instanceof ModelFileError)) throw error;
      refuse(text, error.problems);
    }
  };
  const refuse = (text: string, problems: readonly string[]): void => {
    const isSecondLook = refused?.text === text;
    if (isSecondLook && !refused?.isReported)
      logger.error(
        { file: file.path, problems },
        'the list of AI models is not usable: the earlier one stays',
      );
    refused = { text, isReported: isSecondLook };
    if (!isSecondLook) loop.wake();
  };

  const loop = startPollLoop({
    name: 'AI models file',
    intervalMs: INTERVAL_MS,
    restMs: REST_MS,
    clock,
    logger,
    runOnce: async () => {
      look();
      return 'idle';
    },
  });
  const watcher = watchFolder(dirname(file.path), loop.wake, logger);
  // Who asks wants to hear of the problems, also a second time.
  const readAgain = () => {
    refused = undefined;
    loop.wake();
  };
  host?.on('SIGHUP', readAgain);
  const stop = async () => {
    host?.off('SIGHUP', readAgain);
    watcher?.close();
    await loop.stop();
  };
  return { ...loop, stop };
}

/** Calls `changed` when something changes in the folder. Where that cannot be watched, the interval has to do. */
function watchFolder(folder: string, changed: () => void, logger: Logger): FSWatcher | undefined {
  const cannot = (error: unknown) => {
    logger.warn({ err: error, folder }, 'changes of the list of AI models are noticed within seconds only');
  };
  try {
    return watch(folder, { persistent: false }, changed).on('error', cannot);
  } catch (error) {
    cannot(error);
    return undefined;
  }
}
