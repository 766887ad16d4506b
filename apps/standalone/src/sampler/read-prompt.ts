import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@orrery/contracts';

/** What the sampler reads of a prompt (docs/ai.md): what the event may do, and the instances that it has read. */
export interface PromptFacts {
  readonly contract: JsonObject;
  /** Schema → instanceId → state. */
  readonly entities: JsonObject;
}

/** A block of data: JSON on one line, between two lines with the same name and marker. */
const BLOCK = /^BEGIN DATA (\w+) ([0-9a-f]+)\n(.*)\nEND DATA \1 \2$/gm;

/** Takes the first block of each name; `undefined` for messages that are no prompt of an event. */
export function readPrompt(messages: JsonValue | undefined): PromptFacts | undefined {
  const blocks = new Map<string, JsonObject>();
  for (const message of Array.isArray(messages) ? messages : []) {
    const content = isJsonObject(message) ? message.content : undefined;
    if (typeof content !== 'string') continue;
    for (const [, name = '', , line = ''] of content.matchAll(BLOCK)) {
      const data = blocks.has(name) ? undefined : objectIn(line);
      if (data !== undefined) blocks.set(name, data);
    }
  }
  const contract = blocks.get('contract');
  const entities = blocks.get('entities');
  return contract && entities && { contract, entities };
}

function objectIn(line: string): JsonObject | undefined {
  try {
    const data = parseJson(line);
    return isJsonObject(data) ? data : undefined;
  } catch {
    return undefined;
  }
}
