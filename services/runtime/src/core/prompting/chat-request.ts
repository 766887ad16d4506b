import { cutText, type JsonObject, type JsonValue, ServiceError, storableText } from '@orrery/contracts';
import { changeableSchemas, type StrictForm } from '@orrery/deciding';
import type { Model, OutputForm } from './model.js';
import { buildPrompt, type ChatMessage, fencedData, type Prompt, type PromptFacts } from './prompt.js';

/** How a request is put to a model's server: what some servers refuse. */
export interface RequestForm {
  readonly output: OutputForm;
  /** The name of the limit of tokens: newer models of some servers know only the second one. */
  readonly tokenLimit: 'max_tokens' | 'max_completion_tokens';
  readonly withTemperature: boolean;
  readonly withSeed: boolean;
  /** Without it the system's text stands before the user's: templates of some models know no system role. */
  readonly withSystemRole: boolean;
}

export const BEST: RequestForm = {
  output: 'strict',
  tokenLimit: 'max_tokens',
  withTemperature: true,
  withSeed: true,
  withSystemRole: true,
};

/** The ladder: what is asked for where a form was refused or ignored. */
export const LADDER: readonly OutputForm[] = ['strict', 'json', 'text'];

/** What a server may refuse of a request, where it says so and there is another way. */
export type RefusedPart = 'max_tokens' | 'temperature' | 'seed' | 'system';

/**
 * The form to try after a server refused one, by the part that it named, if any; `undefined` when no other form is left.
 * Where none was named, all forms of output are tried with a system role, and then without one.
 */
export function formAfterRefusal(form: RequestForm, part: RefusedPart | undefined): RequestForm | undefined {
  if (part === 'max_tokens' && form.tokenLimit === 'max_tokens')
    return { ...form, tokenLimit: 'max_completion_tokens' };
  if (part === 'temperature' && form.withTemperature) return { ...form, withTemperature: false };
  if (part === 'seed' && form.withSeed) return { ...form, withSeed: false };
  if (part === 'system' && form.withSystemRole) return { ...form, withSystemRole: false };
  return (
    formBelow(form) ??
    (form.withSystemRole ? { ...form, output: 'strict', withSystemRole: false } : undefined)
  );
}

/** The form with the next lower output, after one that was ignored. */
export function formBelow(form: RequestForm): RequestForm | undefined {
  const output = LADDER[LADDER.indexOf(form.output) + 1];
  return output && { ...form, output };
}

/** Varied enough for a simulation, and close to what the prompt asks for. */
const TEMPERATURE = 0.7;

/** A request to a model, in the form that its server takes. */
export interface PreparedRequest {
  readonly body: JsonObject;
  readonly output: OutputForm;
  /** Estimated, of everything that is sent. */
  readonly inputTokens: number;
  /** The limit of the answer. */
  readonly outputTokens: number;
}

interface Dialogue {
  readonly strictForm: StrictForm | null;
  /** The answers so far. */
  readonly refused: readonly RefusedAnswer[];
  readonly seed: number;
}

/** The request for a chat completion that decides an execution. @throws `prompt_too_large` */
export function chatRequest(
  request: PromptFacts & { readonly model: Model },
  form: RequestForm,
  { strictForm, refused, seed }: Dialogue,
): PreparedRequest {
  const room = roomOf(request.model);
  const { outputTokens } = room;
  const schema = form.output === 'strict' ? (strictForm?.schema ?? null) : null;
  const prompt = buildPrompt(request, form.output);
  const messages = [...prompt.messages, ...corrections(refused, roomBeside(prompt, schema, room))];
  const body = {
    model: request.model.upstreamModel,
    messages: (form.withSystemRole ? messages : withoutSystemRole(messages)).map((one) => ({ ...one })),
    stream: false,
    [form.tokenLimit]: outputTokens,
    ...(form.withTemperature ? { temperature: TEMPERATURE } : {}),
    ...(form.withSeed ? { seed } : {}),
    ...responseFormat(form, schema),
  };
  return { body, output: form.output, inputTokens: tokensOf(messages) + schemaTokens(schema), outputTokens };
}

/** The text of the system stands before that of the first message, which is the user's. */
function withoutSystemRole([system, first, ...rest]: readonly ChatMessage[]): ChatMessage[] {
  if (system?.role !== 'system' || first === undefined)
    throw new Error('a prompt begins with system and user');
  return [{ ...first, content: `${system.content}\n\n${first.content}` }, ...rest];
}

function responseFormat({ output }: RequestForm, schema: JsonObject | null): JsonObject {
  if (output === 'strict' && schema !== null)
    return {
      response_format: { type: 'json_schema', json_schema: { name: 'proposal', strict: true, schema } },
    };
  return output === 'json' ? { response_format: { type: 'json_object' } } : {};
}

/** No tokenizer needs more tokens for a text than a third of its bytes, as far as common ones and texts go. */
const BYTES_PER_TOKEN = 3;

/**
 * Tokens that a text takes at most, roughly: its UTF-8 bytes / 3. Tokenizers were seen to take minutes for hostile texts,
 * so none is used; what a call costs is counted by the server's own `usage`.
 */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

const MAX_OUTPUT_TOKENS = 8192;

/** What a model has room for, in tokens. */
interface ModelRoom {
  readonly contextLength: number;
  /** Set aside for the answer: a quarter of the context, at most 8,192. */
  readonly outputTokens: number;
}

export const roomOf = ({ record: { contextLength } }: Pick<Model, 'record'>): ModelRoom => ({
  contextLength,
  outputTokens: Math.max(1, Math.min(MAX_OUTPUT_TOKENS, Math.floor(contextLength / 4))),
});

/** An answer that was no proposal, and why. */
export interface RefusedAnswer {
  /** Null where there is no text to show again. */
  readonly answer: string | null;
  readonly reason: string;
}

/** UTF-16 units of a refused answer and of a reason that are shown to the model again. */
const MAX_ECHO = 8000;
const MAX_REASON = 2000;
/** Roles alternate, and no message is empty: the templates of some models refuse anything else. */
const NO_TEXT = '(no text)';

/** The messages that show refused answers to the model, the latest ones first dropped last, in so many tokens at most. */
export function corrections(refused: readonly RefusedAnswer[], room: number): ChatMessage[] {
  const messages: ChatMessage[] = [];
  let left = room;
  for (const { answer, reason } of refused.toReversed()) {
    const echoes = answer === null ? [NO_TEXT] : [cutText(storableText(answer), MAX_ECHO), NO_TEXT];
    const pair = echoes.map((echo) => correction(echo, reason)).find((one) => tokensOf(one) <= left);
    if (pair === undefined) break;
    left -= tokensOf(pair);
    messages.unshift(...pair);
  }
  return messages;
}

/** The reason may quote the answer, so it is fenced. */
const correction = (echo: string, reason: string): ChatMessage[] => [
  { role: 'assistant', content: echo },
  {
    role: 'user',
    content: `That answer was refused. Answer again, with the whole corrected JSON object.\n${fencedData('reason', cutText(storableText(reason), MAX_REASON))}`,
  },
];

/** Of the words and marks that servers put around a message. */
const TOKENS_AROUND_MESSAGE = 16;

/** Estimated tokens of messages. */
export const tokensOf = (messages: readonly ChatMessage[]): number =>
  messages.reduce((sum, { content }) => sum + estimateTokens(content) + TOKENS_AROUND_MESSAGE, 0);

/** Estimated tokens of what a request carries beside its messages. */
export const schemaTokens = (schema: JsonObject | null): number =>
  schema === null ? 0 : estimateTokens(JSON.stringify(schema));

/**
 * Refuses a prompt that leaves no room for the answer.
 * @returns the tokens that are left beside the prompt and the answer
 * @throws `prompt_too_large` with the largest section
 */
export function roomBeside(
  { messages, sections }: Prompt,
  schema: JsonObject | null,
  { contextLength, outputTokens }: ModelRoom,
): number {
  const ofSchema = schemaTokens(schema);
  const size = tokensOf(messages) + ofSchema;
  const limit = contextLength - outputTokens;
  if (size <= limit) return limit - size;
  const { rules: _, ...written } = sections;
  const [section = '', largest = 0] =
    Object.entries(written)
      .map(([name, text]) => [name, estimateTokens(text) + (name === 'contract' ? ofSchema : 0)] as const)
      .sort(([, a], [, b]) => b - a)[0] ?? [];
  throw promptTooLarge(section, largest, size, limit);
}

/**
 * Refuses what is too large beyond doubt before a prompt is made of it, which takes time in proportion to its size.
 * @throws `prompt_too_large`
 */
export function refuseHuge(
  { definition, entities }: PromptFacts,
  { contextLength, outputTokens }: ModelRoom,
): void {
  const limit = contextLength - outputTokens;
  const parts = { entities, contract: changeableSchemas(definition) as unknown as JsonValue };
  for (const [section, part] of Object.entries(parts)) {
    const least = leastLength(part, limit * BYTES_PER_TOKEN) / BYTES_PER_TOKEN;
    if (least > limit) throw promptTooLarge(section, Math.ceil(least), Math.ceil(least), limit);
  }
}

/** Characters that the value's JSON has at least; the count ends soon after it has passed `limit`. */
function leastLength(value: JsonValue, limit: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 1;
  let length = 2;
  for (const key of Object.keys(value)) {
    if (length > limit) break;
    if (!Array.isArray(value)) length += key.length + 3;
    length += leastLength((value as JsonObject)[key] ?? null, limit - length);
  }
  return length;
}

const promptTooLarge = (section: string, largest: number, size: number, limit: number): ServiceError =>
  new ServiceError(
    'prompt_too_large',
    `The prompt takes about ${size} tokens, and the model has room for ${limit}. Its largest section is "${section}" with about ${largest} tokens: make that smaller, or choose a model with a longer context.`,
    { facts: { section, sectionTokens: largest, promptTokens: size, limit } },
  );
