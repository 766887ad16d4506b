import { type JsonObject, type JsonValue, ServiceError } from '@orrery/contracts';
import { changeableSchemas } from './event-contract.js';
import type { ChatMessage, Prompt, PromptFacts } from './prompt.js';
import { BYTES_PER_TOKEN, estimateTokens } from './token-estimate.js';

/** What a model has room for, in tokens. */
export interface ModelRoom {
  readonly contextLength: number;
  /** Set aside for the answer. */
  readonly outputTokens: number;
}

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
  { messages, tokens }: Prompt,
  schema: JsonObject | null,
  { contextLength, outputTokens }: ModelRoom,
): number {
  const ofSchema = schemaTokens(schema);
  const size = tokensOf(messages) + ofSchema;
  const limit = contextLength - outputTokens;
  if (size <= limit) return limit - size;
  const { rules: _, ...written } = { ...tokens, contract: tokens.contract + ofSchema };
  const [section, largest] = Object.entries(written).reduce((most, one) => (one[1] > most[1] ? one : most));
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
