import { canonicalHash } from '@orrery/contracts';
import type { RoutedRpc } from '../../core/requests/operation.js';
import { at, versionHash } from './example-entry.js';
import { RECORD_EXAMPLES } from './example-records.js';
import { daily } from './examples.js';
import type { JsonSchema } from './schema-book.js';

/** Bodies by the names under which the document has them as `components.examples`. */
export type AnswerExamples = Readonly<Record<string, unknown>>;

/**
 * Examples of a success envelope, one for each record that its `data` may be. They follow from the records that the schema
 * names, so an operation needs one of its own only where it shows what it has done (`OUTCOME_EXAMPLES`).
 */
export function answerExamples({ name }: Pick<RoutedRpc, 'name'>, envelope: JsonSchema): AnswerExamples {
  const { success: _, message: _text, warnings: _likely, data, ...beside } = membersOf(envelope);
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

const queued = { state: 'queued', attempts: 0, responseStatus: null, durationMs: null, attemptedAt: null };

/** What an operation makes of the record: the members in which its answer differs from the example above. */
export const OUTCOME_EXAMPLES: Readonly<Record<string, object>> = {
  'worlds.update': { description: 'Races every hour' },
  'worlds.publish': { isPublic: true },
  'entitySchemas.update': { description: 'A horse and its record' },
  'attributes.update': { constraints: { min: 0, max: 120 } },
  'events.update': { description: 'A race has been run' },
  'versions.create': { id: 2, version: 2, versionHash: canonicalHash(daily), ...daily },
  'versions.update': { executionSettings: { visibility: 'public' } },
  'versions.lock': { isLocked: true, lockedAt: at('34:00') },
  'deployments.update': { name: 'Season one' },
  'deployments.lock': {
    mode: 'locked',
    lockedAt: at('34:00'),
    definitionHash: canonicalHash({ 'race-result': versionHash }),
  },
  'deployments.publish': { isPublic: true },
  'deployments.pause': { isPaused: true },
  'bindings.update': { eventVersion: 2 },
  'instances.create': { state: { wins: 3 }, revision: 1, updatedAt: at('30:00') },
  'schedules.pause': { status: 'paused', pausedBy: ['schedule'], nextAt: null },
  'schedules.run': { kind: 'manual' },
  'webhooks.update': { events: null },
  'webhooks.test': { kind: 'test', historyId: null, seq: null, event: null, ...queued },
  'webhooks.redeliver': { kind: 'redelivery', ...queued },
  'pushes.retry': { status: 'queued', transaction: null, block: null, explorerUrl: null },
  'pushes.skip': { status: 'queued', transaction: null, block: null, explorerUrl: null, truncated: true },
};
