import { canonicalHash, type HashedEntry, isJsonObject, type JsonObject } from '@orrery/contracts';
import { readAnswer } from '../answers/read-answer.js';
import { strictFormOf } from '../answers/strict-form.js';
import { applyMutation, readForExecution } from '../execution/execute-event.js';
import type { CompiledDefinition, Decision, InstanceView } from '../execution/execution.js';
import { executionOf, type PlaceOfWorld } from './rerun.js';

/** `llm` of an entry, with its texts. */
export type Exchange = JsonObject;

/** Whether the exchange is the one that the entry's `llmHash` covers (docs/ai.md). */
export const isExchangeOf = (
  { llmHash }: HashedEntry,
  { model = null, request = null, response = null }: Exchange,
): boolean => canonicalHash({ model, request, response }) === llmHash;

/** Whether what a model decided can be applied again: a proposal that depends on nothing but what the execution read. */
export const isAnswerRerunnable = (
  { status, llmHash }: HashedEntry,
  { definition, mutation }: CompiledDefinition,
): boolean =>
  status === 'succeeded' &&
  llmHash !== null &&
  mutation === 'ai' &&
  // It is remembered when the model is asked, which may be some entries before its own.
  (definition.readHistory === undefined || definition.followUps === undefined);

/**
 * Applies the answer of a model again: answer → mutation → changes → checks, on the instances as they were before the entry.
 * Undefined: the exchange has no answer that is a proposal. Never throws.
 */
export function rerunAnswer(
  entry: HashedEntry,
  definition: CompiledDefinition,
  place: PlaceOfWorld,
  exchange: Exchange,
  instances: InstanceView,
): Decision | undefined {
  const execution = executionOf(entry, definition, place);
  const found = readForExecution(execution, instances);
  if (found.kind !== 'read') return found;
  const { read } = found;
  const mutation = proposalIn(exchange, definition, read.entities);
  return mutation === undefined ? undefined : applyMutation(execution, read, mutation, instances);
}

/** The proposal in the last answer, read in the form that was asked for. */
function proposalIn(
  { response, attempts }: Exchange,
  { definition }: CompiledDefinition,
  entities: JsonObject,
): JsonObject | undefined {
  const last = Array.isArray(attempts) ? attempts.at(-1) : undefined;
  if (typeof response !== 'string' || !isJsonObject(last)) return undefined;
  const strictForm = last['form'] === 'strict' ? strictFormOf(definition) : null;
  const message = { content: response, finishReason: 'stop', refusal: null, hasToolCalls: false };
  const reading = readAnswer(message, { definition, entities, strictForm, isKept: true });
  return reading.ok ? reading.mutation : undefined;
}
