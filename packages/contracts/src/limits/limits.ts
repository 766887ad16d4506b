import { z } from 'zod';
import { operationsAt } from '../rpc/operation.js';

const count = (what: string) => z.int().min(0).describe(what);
const bytes = (what: string) => z.int().min(0).describe(`Bytes ${what}.`);
const seconds = (what: string) => z.number().min(0).describe(`Seconds ${what}.`);

/** Attributes of one schema that may be indexed: each costs a row for each instance, and a write for each change of it. */
export const MOST_INDEXED = 4;

/** What definitions may hold; the catalog's. */
export const definitionLimits = z
  .strictObject({
    promptBytes: bytes('of a `promptSeed` or a `behaviorPrompt` as UTF-8'),
    descriptionBytes: bytes('of a description as UTF-8'),
    domainTags: count('Tags of a world.'),
    domainTagCharacters: count('Characters of a tag.'),
    schemasPerWorld: count('Entity schemas of a world.'),
    schemasBytesPerWorld: bytes('of the attributes of all entity schemas of a world, as JSON'),
    attributesPerSchema: count('Attributes of an entity schema.'),
    // A catalog of the previous release leaves it out.
    indexedAttributesPerSchema: count('Indexed attributes of an entity schema.').default(MOST_INDEXED),
    schemaBytes: bytes('of the attributes of an entity schema, as JSON'),
    eventsPerWorld: count('Events of a world.'),
    versionsPerEvent: count('Versions of an event.'),
    versionBytes: bytes('of the definition of a version, as JSON'),
  })
  .meta({ id: 'DefinitionLimits', description: 'What definitions may hold.' });

/** What deployments and their executions may hold; the runtime's. */
export const deploymentLimits = z
  .strictObject({
    bindings: count('Event bindings of a deployment.'),
    instances: count('Entity instances of a deployment.'),
    inputBytes: bytes("of an execution's input, as JSON"),
    stateBytes: bytes("of an instance's state, as JSON"),
    entryBytes: bytes('of the input, changes and result of a journal entry, as JSON'),
    instancesReadPerExecution: count('Instances that one execution reads.'),
    instancesChangedPerExecution: count('Instances that one execution changes.'),
    messageMaxAgeSeconds: seconds('that a signed message may be old'),
    messageMaxAheadSeconds: seconds('that the time of a signed message may be ahead'),
  })
  .meta({ id: 'DeploymentLimits', description: 'What deployments and their executions may hold.' });

const rateLimits = z
  .strictObject({
    keyPerSecond: z.number().min(0).describe('Requests a second per key.'),
    keyBurst: count('Requests at once per key.'),
    publicPerAddressPerMinute: count('Public executions a minute per client address.'),
    publicReadsPerAddressPerMinute: count('Requests without a key that read, a minute per client address.'),
    publicVerificationsPerAddressPerMinute: count('Of these that verify a history.'),
    publicPerWalletPerMinute: count('Public executions a minute per wallet and deployment.'),
    contractSignaturesPerAddressPerMinute: count(
      'Public executions a minute per client address whose signature the node of a chain is asked about.',
    ),
    signInPerAddressPerMinute: count('Sign-in requests a minute per client address.'),
  })
  .meta({ id: 'RateLimits', description: 'How many requests there may be.' });

/** What a request may hold, and how many there may be; the gateway's. */
const requestLimits = z
  .strictObject({
    bodyBytes: bytes('of a body; operations that need less take less'),
    jsonDepth: count('Levels that the JSON of a body may be nested.'),
    pageEntries: count('Entries of a page.'),
    pageDepth: count('The product of `page` and `limit`.'),
    answerSeconds: seconds('within which a request is answered'),
    modelAnswerSeconds: seconds('within which an execution by a model is answered'),
    rates: rateLimits.nullable().describe('Null: rates are not limited.'),
  })
  .meta({ id: 'RequestLimits', description: 'What requests may hold, and how many there may be.' });
export type RequestLimits = z.infer<typeof requestLimits>;

/** What holds for webhooks. */
const webhookLimits = z
  .strictObject({
    perDeployment: count('Webhooks of a deployment.'),
    attemptSeconds: seconds('within which a receiver has to answer'),
    longestPauseSeconds: seconds('that the next attempt is away at most'),
    disabledAfterSeconds: seconds('of failures after which a webhook is disabled'),
    deliveriesKept: count('Deliveries of a webhook that are listed.'),
    deliveriesKeptDays: count('Days for which they are listed.'),
    waitingByHand: count('Deliveries of a webhook that are asked for at once.'),
  })
  .meta({ id: 'WebhookLimits', description: 'What holds for webhooks.' });

/** What holds for timers. */
const timerLimits = z
  .strictObject({
    followUpsPerVersion: count('Follow-ups of a version.'),
    pendingPerDeployment: count('Timers of a deployment that are pending.'),
    executionsWithoutDelay: count('Executions that follow each other without delay.'),
    shortestDelaySeconds: seconds('that any other timer waits at least'),
    longestDelaySeconds: seconds('that it waits at most'),
  })
  .meta({ id: 'TimerLimits', description: 'What holds for timers.' });

/** The gateway asks the services for theirs. */
export const limitRpcs = {
  'limits.get': operationsAt('/api/limits', 'Limits', {
    access: { scope: 'none', relation: 'account' },
  }).read('', 'Get the limits in force', {
    data: z
      .strictObject({
        requests: requestLimits.describe('Of all requests.'),
        definitions: definitionLimits.describe('Of worlds, entity schemas, events and versions.'),
        deployments: deploymentLimits.describe('Of deployments and executions.'),
        timers: timerLimits.describe('Of timers.'),
        webhooks: webhookLimits.describe('Of webhooks.'),
      })
      .meta({ id: 'Limits', description: 'The limits that the operator has set.' }),
  }),
};
