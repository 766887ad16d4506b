import type { JsonObject } from '@orrery/contracts';
import type { ChatMessage } from './prompt.js';
import type { RequestForm } from './request-forms.js';

/** Varied enough for a simulation, and close to what the prompt asks for. */
export const TEMPERATURE = 0.7;

export interface ChatRequestParts {
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
