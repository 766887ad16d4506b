import { z } from 'zod';
import { DEPLOYMENT_PATH, IN_DEPLOYMENT } from '../names/names.js';
import { MOST_CONTENT } from '../records/content-limits.js';
import { name, ordinal, recordId, recordTimes, soughtNameInQuery, storedName } from '../records/fields.js';
import { operationsAt, requestPath } from '../rpc/operation.js';

/** A name of a chain or a key that pushes are filtered by. */
const shortName = z.string().min(1).max(255);
/** A set: a chain that is named twice is pushed to once. */
const targetChains = z
  .array(shortName.max(64))
  .max(16)
  .transform((chains) => [...new Set(chains)]);

export const onchainFilter = z
  .strictObject({
    stateChanges: z
      .array(shortName)
      .max(200)
      .nullish()
      .describe(
        'The attributes to push, as `attribute` or `schema.attribute`. Absent or null: all; `[]`: none.',
      ),
    result: z
      .array(shortName)
      .max(200)
      .nullish()
      .describe('The top-level members of the result to push. Absent or null: all; `[]`: none.'),
    head: z
      .enum(['hourly'])
      .optional()
      .describe(
        '`hourly`: in place of executions the head of the journal is pushed, once for each hour (UTC) in which one of them ' +
          'succeeded. Absent: each execution is pushed.',
      ),
  })
  .refine(
    ({ head, stateChanges, result }) => head === undefined || (stateChanges ?? result ?? null) === null,
    {
      path: ['head'],
      message: 'A head holds no contents: give either head, or stateChanges and result.',
    },
  )
  .meta({ id: 'OnchainFilter', description: 'What is pushed to chains: parts of executions, or heads.' });
export type OnchainFilter = z.infer<typeof onchainFilter>;

const eventVersion = z.int().min(1).max(1_000_000_000);
const EVENT = 'Name of the event; a list names each event once.';
const VERSION = 'Number of the version that is executed.';
const CHAINS = 'Names of the chains that are pushed to.';
const FILTER = 'What is pushed of succeeded executions. Null: all of each.';

export const bindingInput = z
  .strictObject({
    event: name.describe(EVENT),
    eventVersion: eventVersion.describe(VERSION),
    targetChains: targetChains.optional().describe(`${CHAINS} Absent: none.`),
    onchain: onchainFilter.nullish().describe(FILTER),
  })
  .meta({ id: 'BindingInput', description: 'An event to bind to one of its versions.' });
export type BindingInput = z.infer<typeof bindingInput>;

export const bindingChange = z
  .strictObject({
    event: name.describe(EVENT),
    eventVersion: eventVersion.optional().describe(VERSION),
    targetChains: targetChains.optional().describe(`${CHAINS} \`[]\` removes them.`),
    onchain: onchainFilter.nullish().describe(FILTER),
  })
  .meta({ id: 'BindingChange', description: 'Changes of a binding. Absent members stay.' });
export type BindingChange = z.infer<typeof bindingChange>;

export const bindingRecord = z
  .strictObject({
    id: recordId.describe('Numeric id.'),
    event: storedName.describe('Name of the event.'),
    eventVersion: ordinal.describe(VERSION),
    targetChains: z.array(z.string()).max(16).describe(CHAINS),
    onchain: onchainFilter.nullable().describe(FILTER),
    ...recordTimes,
  })
  .meta({ id: 'EventBinding', description: 'Which version of an event a deployment executes.' });
export type BindingRecord = z.infer<typeof bindingRecord>;

const PATH = `${DEPLOYMENT_PATH}/event-bindings`;
const { create, read, remove, write } = operationsAt(PATH, 'Event bindings', IN_DEPLOYMENT);

/** Of one binding its own address, of several the list. */
function locationOf(params: Record<string, string>, bindings: readonly BindingRecord[]): string {
  const list = requestPath({ path: PATH }, params);
  const [only, ...others] = bindings;
  return only === undefined || others.length > 0 ? list : `${list}?event=${encodeURIComponent(only.event)}`;
}

const bindings = z.array(bindingRecord).max(MOST_CONTENT.bindingsPerDeployment);

export const bindingRpcs = {
  /** With `?event=` the one binding of that event, else all of them, unpaged. */
  'bindings.list': read('', 'List the event bindings, or get the binding of one event', {
    errors: ['event_binding_not_found'],
    query: z.strictObject({
      event: soughtNameInQuery
        .optional()
        .describe('Name of an event: only its binding is answered, in place of the list.'),
    }),
    data: z.union([bindings, bindingRecord]).describe('All bindings, or with `event` the one of that event.'),
  }),
  'bindings.add': create('Bind events to versions', {
    http: { location: ({ params }, data) => locationOf(params, data as unknown as readonly BindingRecord[]) },
    errors: [
      'body_must_be_array',
      'duplicate_event',
      'unknown_event',
      'unknown_event_version',
      'unknown_chain',
      'event_binding_exists',
      'limit_reached',
      'change_too_large',
      'deployment_locked',
      'what_if_refused',
      'write_conflict',
    ],
    body: z.array(bindingInput).max(MOST_CONTENT.bindingsPerDeployment),
    data: bindings.describe('The new bindings.'),
  }),
  'bindings.update': write('PUT', '', 'Update event bindings', {
    errors: [
      'body_must_be_array',
      'duplicate_event',
      'unknown_event_version',
      'unknown_chain',
      'event_binding_not_found',
      'change_too_large',
      'deployment_locked',
      'write_conflict',
    ],
    body: z.array(bindingChange).max(MOST_CONTENT.bindingsPerDeployment),
    data: bindings.describe('The bindings as they now are.'),
  }),
  'bindings.remove': remove('Unbind an event', {
    errors: ['event_binding_not_found', 'deployment_locked', 'write_conflict'],
    query: z.strictObject({ event: soughtNameInQuery.describe('Name of the event to unbind.') }),
  }),
};
