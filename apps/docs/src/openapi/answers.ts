import type { OpenApi, Operation } from './document.js';

export interface AnswerExample {
  readonly status: string;
  readonly code: string;
  readonly language: string;
}

/** The first example that the document has of an answer that is no error. */
export function answerExample({ responses }: Operation, { components }: OpenApi): AnswerExample | undefined {
  const [status, response] = Object.entries(responses).find(([code]) => code < '300') ?? [];
  if (status === undefined || response === undefined) return undefined;
  const stream = response.content?.['text/event-stream'];
  if (stream !== undefined) return { status, code: shortened(String(stream.example ?? '')), language: '' };
  const json = response.content?.['application/json'];
  const [reference] = Object.values(json?.examples ?? {});
  const name = /[^/]+$/.exec(reference?.$ref ?? '')?.[0] ?? '';
  const value = json?.example ?? components.examples[name]?.value;
  return value === undefined ? undefined : { status, code: JSON.stringify(value, null, 2), language: 'json' };
}

/** A stream's lines hold whole records. */
const LINE = 240;

const shortened = (stream: string): string =>
  stream
    .trimEnd()
    .split('\n')
    .map((line) => (line.length > LINE ? `${line.slice(0, LINE)}…` : line))
    .join('\n');
