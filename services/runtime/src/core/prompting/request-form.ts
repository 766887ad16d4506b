import type { JsonObject } from '@orrery/contracts';
import type { OutputForm } from '../models/model.js';
import type { ChatMessage } from './prompt.js';

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
const BELOW: Readonly<Record<OutputForm, OutputForm | undefined>> = {
  strict: 'json',
  json: 'text',
  text: undefined,
};

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
  const output = BELOW[form.output];
  return output && { ...form, output };
}

/** Varied enough for a simulation, and close to what the prompt asks for. */
const TEMPERATURE = 0.7;

interface ChatRequestParts {
  /** The model's name at its server. */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly form: RequestForm;
  /** Of the strict form. */
  readonly schema: JsonObject | null;
  /** Tokens that the answer may have. */
  readonly outputTokens: number;
  readonly seed: number;
}

/** The body of a request for a chat completion. */
export function chatRequest({
  model,
  messages,
  form,
  schema,
  outputTokens,
  seed,
}: ChatRequestParts): JsonObject {
  return {
    model,
    messages: (form.withSystemRole ? messages : withoutSystemRole(messages)).map(({ role, content }) => ({
      role,
      content,
    })),
    stream: false,
    [form.tokenLimit]: outputTokens,
    ...(form.withTemperature ? { temperature: TEMPERATURE } : {}),
    ...(form.withSeed ? { seed } : {}),
    ...responseFormat(form, schema),
  };
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
