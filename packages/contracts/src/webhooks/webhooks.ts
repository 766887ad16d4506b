import { z } from 'zod';
import { DEPLOYMENT_PATH, deploymentPath, historyIdInPath, IN_DEPLOYMENT } from '../names/names.js';
import { address, count, name, ordinal, recordTimes, storedName, timestamp } from '../records/fields.js';
import { pageQuery } from '../records/pagination.js';
import { operationsAt } from '../rpc/operation.js';
import { defineMessage } from '../rpc/rpc.js';
import { executionStatus } from '../runtime/journal.js';

/** What holds for all webhooks; `GET /api/limits` shows it. */
export const WEBHOOK_LIMITS = {
  perDeployment: 20,
  attemptSeconds: 10,
  longestPauseSeconds: 43_200,
  disabledAfterSeconds: 432_000,
  deliveriesKept: 1000,
  deliveriesKeptDays: 30,
  waitingByHand: 10,
};

const MAX_URL = 2048;
const MAX_EVENTS = 100;
/** Ports below it belong to other services than HTTP, but for HTTPS itself. */
const FIRST_FREE_PORT = 1024;

/** What is wrong with the address of a webhook, as far as the text alone tells it. Undefined: nothing. */
export function wrongWebhookUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:') return 'An address that begins with https:// is required.';
  if (url.username !== '' || url.password !== '') return 'The address may hold no user and no password.';
  if (text.includes('#')) return 'The address may hold no fragment (#).';
  if (url.port !== '' && Number(url.port) < FIRST_FREE_PORT)
    return `Ports below ${FIRST_FREE_PORT} other than 443 are not allowed.`;
  if (url.href.length > MAX_URL)
    return `The address may have at most ${MAX_URL} characters once those outside ASCII are percent-encoded; it has ${url.href.length}.`;
  return undefined;
}

const webhookUrl = z
  .string()
  .min(1)
  .max(MAX_URL)
  .superRefine((text, context) => {
    const wrong = text.length > MAX_URL ? undefined : wrongWebhookUrl(text);
    if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong });
  })
  .describe(
    'Where entries are sent: an `https` address without user and fragment, on port 443 or from 1024 on. What is not ' +
      'public is refused, unless the operator allows its network. It may have 2,048 characters once those outside ASCII are ' +
      'percent-encoded.',
  );

const EVENTS = 'Names of the events whose executions are sent.';
const STATUS = 'Only executions that ended like this are sent.';
const events = z.array(name).min(1).max(MAX_EVENTS).nullish();
const status = executionStatus.nullish();

const webhookProblem = z
  .strictObject({
    code: z.string().describe('The reason, for programs.'),
    detail: z.string().describe('The reason, for people.'),
  })
  .meta({ id: 'WebhookProblem', description: 'Why a delivery failed, or a webhook is disabled.' });
export type WebhookProblem = z.infer<typeof webhookProblem>;

export const webhookRecord = z
  .strictObject({
    id: z.string().describe('Id of the webhook.'),
    url: z.string().describe('Where entries are sent, as it is requested: percent-encoded.'),
    events: z.array(storedName).max(MAX_EVENTS).nullable().describe(`${EVENTS} Null: all.`),
    status: executionStatus.nullable().describe(`${STATUS} Null: all.`),
    state: z
      .enum(['active', 'retrying', 'disabled'])
      .describe(
        '`retrying`: the last delivery failed and is tried again; later entries wait. `disabled`: nothing is sent.',
      ),
    seq: count.describe('The last entry of the journal that it is done with.'),
    behind: count.describe('Entries of the journal after it that are not looked at yet, as far as known.'),
    failingSince: timestamp.nullable().describe('When deliveries began to fail. Null: they do not.'),
    nextAttemptAt: timestamp.nullable().describe('When the next attempt is due. Null: none is.'),
    problem: webhookProblem
      .nullable()
      .describe('Why it is disabled, or why the last delivery failed. Null: neither.'),
    disabledAt: timestamp.nullable().describe('Since when it is disabled. Null: it is not.'),
    ...recordTimes,
  })
  .meta({ id: 'Webhook', description: 'An address that executions of a deployment are sent to.' });
export type WebhookRecord = z.infer<typeof webhookRecord>;

const createdWebhook = z
  .strictObject({
    ...webhookRecord.shape,
    secret: z
      .string()
      .describe('The secret by which deliveries are verified, `whsec_…`; it cannot be shown again.'),
  })
  .meta({ id: 'CreatedWebhook', description: 'A webhook with its new secret.' });
export type CreatedWebhook = z.infer<typeof createdWebhook>;

export const deliveryState = z.enum(['queued', 'delivered', 'retrying', 'failed']).meta({
  id: 'DeliveryState',
  description:
    'How far a delivery has come: `queued` is not tried yet, `retrying` failed and is tried again, `failed` is not tried ' +
    'again by itself.',
});

export const deliveryRecord = z
  .strictObject({
    number: ordinal.describe('1, 2, 3 … of this webhook.'),
    kind: z
      .enum(['entry', 'redelivery', 'test'])
      .describe('`entry`: by itself, in order; `redelivery`: asked for; `test`: a body that is no entry.'),
    historyId: z
      .string()
      .nullable()
      .describe(
        'Id of the history entry that was sent: `webhook-id`. Null: a test, or a loss that no entry tells.',
      ),
    seq: ordinal.nullable().describe('Position of that entry in the journal. Null: a test.'),
    event: storedName.nullable().describe('Event that was executed. Null: no execution.'),
    state: deliveryState.describe('How far it has come.'),
    attempts: count.describe('How often it was tried.'),
    responseStatus: z.int().nullable().describe('HTTP status of the last answer. Null: there was none.'),
    problem: webhookProblem.nullable().describe('Why the last attempt failed. Null: it did not.'),
    durationMs: count.nullable().describe('Milliseconds that the last attempt took. Null: none was made.'),
    createdAt: recordTimes.createdAt,
    attemptedAt: timestamp.nullable().describe('When it was tried last. Null: not yet.'),
  })
  .meta({ id: 'WebhookDelivery', description: 'A delivery to a webhook, and its outcome.' });
export type DeliveryRecord = z.infer<typeof deliveryRecord>;

const ROOT = `${DEPLOYMENT_PATH}/webhooks`;
const TAG = 'Webhooks';
const READ = { scope: 'read', relation: 'owner' } as const;
const all = operationsAt(ROOT, TAG, IN_DEPLOYMENT);
const one = operationsAt(`${ROOT}/:webhookId`, TAG, {
  params: z.strictObject({
    ...deploymentPath.shape,
    webhookId: z.string().min(1).max(64).describe('Id of the webhook.'),
  }),
  errors: [...IN_DEPLOYMENT.errors, 'webhook_not_found'],
});

const bodyBytes = () => 64 * 1024;

export const webhookRpcs = {
  'webhooks.list': all.list('', 'List the webhooks of a deployment', { access: READ, item: webhookRecord }),
  'webhooks.create': all.create('Create a webhook; its secret is shown only once', {
    named: 'id',
    http: { bodyBytes },
    errors: ['limit_reached', 'webhooks_unavailable', 'what_if_refused', 'request_in_flight'],
    body: z
      .strictObject({
        url: webhookUrl,
        events: events.describe(`${EVENTS} Absent or null: all.`),
        status: status.describe(`${STATUS} Absent or null: all.`),
      })
      .meta({ id: 'CreateWebhook', description: 'A new webhook. It begins with the next entry.' }),
    data: createdWebhook,
  }),
  'webhooks.get': one.read('', 'Get a webhook', { access: READ, data: webhookRecord }),
  'webhooks.update': one.write('PUT', '', 'Change a webhook, disable it or enable it again', {
    http: { bodyBytes },
    body: z
      .strictObject({
        url: webhookUrl.optional(),
        events: events.describe(`${EVENTS} Absent: unchanged; null: all.`),
        status: status.describe(`${STATUS} Absent: unchanged; null: all.`),
        isEnabled: z
          .boolean()
          .optional()
          .describe('False: nothing is sent. True: it goes on where it stopped, at once. Absent: unchanged.'),
      })
      .meta({ id: 'UpdateWebhook', description: 'Changes of a webhook.' }),
    data: webhookRecord,
  }),
  'webhooks.delete': one.remove('Delete a webhook and the list of its deliveries'),
  'webhooks.rotateSecret': one.write('POST', '/rotate-secret', 'Replace the secret of a webhook', {
    errors: ['webhooks_unavailable', 'limit_reached'],
    query: z.strictObject({
      graceSeconds: z
        .string()
        .regex(/^(0|[1-9]\d{0,5})$/, 'A whole number of seconds is required, without leading zeros.')
        .transform(Number)
        .pipe(z.int().min(0).max(604_800))
        .optional()
        .describe(
          'Seconds that deliveries are signed with the old secret too. Absent: 86,400. While the one before it signs still, ' +
            'that is 409 `limit_reached`; 0 ends both at once.',
        ),
    }),
    data: createdWebhook,
  }),
  'webhooks.test': one.write('POST', '/test', 'Send a test delivery to a webhook', {
    errors: ['limit_reached', 'webhooks_unavailable'],
    data: deliveryRecord,
  }),
  'webhooks.deliveries': one.list('/deliveries', 'List the latest deliveries of a webhook, newest first', {
    access: READ,
    query: z.strictObject({
      ...pageQuery.shape,
      state: deliveryState.optional().describe('Only deliveries that have come this far.'),
    }),
    item: deliveryRecord,
  }),
  'webhooks.redeliver': one.write('POST', '/redeliver', 'Send an entry of the history once more', {
    errors: ['history_entry_not_found', 'delivery_pending', 'limit_reached', 'webhooks_unavailable'],
    http: { bodyBytes },
    body: z
      .strictObject({ historyId: historyIdInPath })
      .meta({ id: 'RedeliverEntry', description: 'What to send to the webhook again.' }),
    data: deliveryRecord,
  }),
};

/** Broadcast after webhooks of these deployments were changed; who missed it finds out within seconds. */
export const webhooksChanged = defineMessage(
  'chain-pusher',
  'webhooks-changed',
  z.strictObject({ deployments: z.array(address).max(1000) }),
);
