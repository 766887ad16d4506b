import type { JsonObject } from '@orrery/sdk';
import { isObject } from '../forms/json.js';

/**
 * What a model was asked and answered, as `llm` of a dry run or of a history entry holds it (docs/ai.md). Undefined where
 * no model was asked, or its texts are not shown.
 */
export function exchangeOf(llm: JsonObject | null) {
  if (llm === null || !isObject(llm['request'])) return undefined;
  const { messages, ...settings } = llm['request'];
  const { model, response, reasons, attempts, usage, latencyMs } = llm;
  return {
    model: String(model),
    messages: listOf(messages).filter(isObject).map(messageOf),
    /** What the request holds beside its messages: the form of the answer, temperature, seed. */
    settings,
    response: typeof response === 'string' ? prettyJson(response) : null,
    reasons: listOf(reasons).map(String),
    attempts: listOf(attempts).filter(isObject),
    usage: isObject(usage) ? usage : undefined,
    latencyMs: typeof latencyMs === 'number' ? latencyMs : undefined,
  };
}

export type Exchange = NonNullable<ReturnType<typeof exchangeOf>>;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const messageOf = ({ role, content }: JsonObject, index: number) => ({
  index,
  role: String(role),
  text: typeof content === 'string' ? content : JSON.stringify(content, null, 2),
});

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
