import type { RoutedRpc } from '../../core/requests/operation.js';
import { OUTCOME_EXAMPLES, RECORD_EXAMPLES } from './example-records.js';
import type { JsonSchema } from './schema-book.js';

/** Bodies by the names under which the document has them as `components.examples`. */
export type AnswerExamples = Readonly<Record<string, unknown>>;

/**
 * Examples of a success envelope, one for each record that its `data` may be. They follow from the records that the schema
 * names, so an operation needs one of its own only where it shows what it has done (`OUTCOME_EXAMPLES`).
 */
export function answerExamples({ name }: Pick<RoutedRpc, 'name'>, envelope: JsonSchema): AnswerExamples {
  const { success: _, message: _text, data, ...beside } = membersOf(envelope);
  const others = Object.entries(beside).map(([member, schema]) => [member, samplesOf(schema)[0]?.[1]]);
  const outcome = OUTCOME_EXAMPLES[name];
  const samples = samplesOf(data ?? {}).map(([record, value]) =>
    outcome === undefined ? [record, value] : [operationId(name), changed(value, outcome)],
  );
  return Object.fromEntries(
    samples.map(([of, value]) => [of, { success: true, data: value, ...Object.fromEntries(others) }]),
  );
}

/** One event of each kind as a stream sends them: an execution has its `seq` as `id`. */
export const streamExample = (events: Readonly<Record<string, JsonSchema>>): string =>
  Object.entries(events)
    .map(([event, schema]) => {
      const data = samplesOf(schema)[0]?.[1] as { seq?: number };
      const id = event === 'execution' ? `id: ${data.seq}\n` : '';
      return `${id}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    })
    .join('');

type Sample = readonly [name: string, value: unknown];

/** Each form that a value of the schema has, made of the examples of records. */
function samplesOf(schema: JsonSchema): Sample[] {
  const record = /[^/]+$/.exec(String(schema['$ref'] ?? ''))?.[0] ?? '';
  if (record in RECORD_EXAMPLES) return [[record, RECORD_EXAMPLES[record]]];
  if (Array.isArray(schema['anyOf'])) return schema['anyOf'].flatMap(samplesOf);
  if (schema['type'] !== 'array') return [];
  return samplesOf(schema['items'] as JsonSchema).map(([of, value]) => [`${of}List`, [value]]);
}

const changed = (value: unknown, outcome: object): unknown =>
  Array.isArray(value) ? value.map((item) => ({ ...item, ...outcome })) : { ...Object(value), ...outcome };

const membersOf = ({ properties }: JsonSchema) => properties as Record<string, JsonSchema>;

/** What the document calls an operation: `worlds.create` is `worldsCreate`. */
export const operationId = (name: string): string =>
  name.replaceAll(/\.(\w)/g, (_dot, letter: string) => letter.toUpperCase());
