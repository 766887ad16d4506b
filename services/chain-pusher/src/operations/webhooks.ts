import { randomBytes, randomUUID } from 'node:crypto';
import type { Bus } from '@orrery/bus';
import {
  accountOf,
  type CallContext,
  type CreatedWebhook,
  closest,
  type FieldProblem,
  fieldProblem,
  type Handlers,
  paginationOf,
  refuseDeepPage,
  runtimeContract,
  ServiceError,
  type webhookRpcs,
  withWarnings,
  writeInstead,
} from '@orrery/contracts';
import { keyedRequest } from '@orrery/database';
import { answerInTime, type Clock } from '@orrery/service-kit';
import type { AllowsAddress } from '../core/webhooks/address-rules.js';
import type { Seal } from '../core/webhooks/seal.js';
import { secretText } from '../core/webhooks/signature.js';
import { toDeliveryRecord, toWebhookRecord } from '../core/webhooks/webhook-record.js';
import type { Db } from '../store/tables/schema.js';
import { type AskedFor, lastTried, listDeliveries, queueDelivery } from '../store/webhooks/delivery-store.js';
import { replaceSecret } from '../store/webhooks/webhook-secrets.js';
import {
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  updateWebhook,
  type WebhookRow,
} from '../store/webhooks/webhook-store.js';
import { type Path, relationOf } from './relation.js';

/** What sends. */
export interface Deliveries {
  readonly seal: Seal;
  headOf(deployment: string): Promise<{ seq: number; hash: string | null }>;
  /** Something of this deployment may have become due. */
  changed(deployment: string): void;
}

export interface WebhookDependencies {
  readonly db: Db;
  readonly bus: Pick<Bus, 'call'>;
  readonly allows: AllowsAddress;
  readonly clock: Clock;
  /** Undefined where the operator has set no key. */
  readonly deliveries: Deliveries | undefined;
}

const SECRET_BYTES = 32;
/** Seconds that a replaced secret signs too. */
const GRACE_SECONDS = 86_400;

export function webhookHandlers(dependencies: WebhookDependencies): Handlers<typeof webhookRpcs> {
  const { db, allows, deliveries, clock } = dependencies;
  const ofOwner = async (params: Path, call: CallContext) => ownedBy(dependencies, params, call);
  const keyOf = async (params: Path & { webhookId: string }, call: CallContext) => ({
    deployment: await ofOwner(params, call),
    id: params.webhookId,
  });
  const sending = () => {
    if (deliveries === undefined) throw new ServiceError('webhooks_unavailable', UNAVAILABLE);
    return deliveries;
  };
  const newSecret = (seal: Seal, id: string) => {
    const secret = secretText(randomBytes(SECRET_BYTES));
    return { secret, sealed: seal.close(secret, id) };
  };
  const ask = async (
    params: Path & { webhookId: string },
    call: CallContext,
    asked: (webhook: WebhookRow) => Promise<AskedFor>,
  ) => {
    const key = await keyOf(params, call);
    const { changed } = sending();
    const row = await queueDelivery(db, key, await asked(await findWebhook(db, key)));
    changed(key.deployment);
    return { data: toDeliveryRecord(row) };
  };

  return {
    'webhooks.list': async ({ params, query }, call) => {
      refuseDeepPage(query);
      const { rows, total } = await listWebhooks(db, await ofOwner(params, call), query);
      return { data: rows.map(toWebhookRecord), pagination: paginationOf(query, total) };
    },
    'webhooks.create': async ({ params, headers, body }, call) => {
      const deployment = await ofOwner(params, call);
      const { seal, headOf, changed } = sending();
      refuseLiteral(body.url, allows);
      await refuseFork(dependencies, params, call);
      const id = randomUUID();
      const { sealed } = newSecret(seal, id);
      const made = {
        ...{ id, deployment, secret: sealed },
        accountId: accountOf(call.caller) ?? null,
        head: await headOf(deployment),
      };
      const [operation, key] = [`webhooks of ${deployment}`, headers['idempotency-key']];
      const keyed = keyedRequest(operation, key, body, call.caller, clock.now());
      const webhook = await createWebhook(db, keyed, made, body);
      changed(deployment);
      const warnings = await unboundEvents(dependencies, deployment, body.events, call);
      return { data: { ...webhook, secret: openFirst(seal, webhook) }, ...withWarnings(warnings) };
    },
    'webhooks.get': async ({ params }, call) => ({
      data: toWebhookRecord(await findWebhook(db, await keyOf(params, call))),
    }),
    'webhooks.update': async ({ params, body }, call) => {
      const key = await keyOf(params, call);
      if (body.url !== undefined) refuseLiteral(body.url, allows);
      const row = await updateWebhook(db, key, body);
      deliveries?.changed(key.deployment);
      const warnings = await unboundEvents(dependencies, key.deployment, body.events, call);
      return { data: toWebhookRecord(row), ...withWarnings(warnings) };
    },
    'webhooks.delete': async ({ params }, call) => {
      await deleteWebhook(db, await keyOf(params, call));
      return { data: { deleted: true } };
    },
    'webhooks.rotateSecret': async ({ params, query }, call) => {
      const key = await keyOf(params, call);
      const { seal } = sending();
      const { secret, sealed } = newSecret(seal, key.id.toLowerCase());
      const row = await replaceSecret(db, seal, key, sealed, query.graceSeconds ?? GRACE_SECONDS);
      return { data: { ...toWebhookRecord(row), secret } };
    },
    'webhooks.test': ({ params }, call) => ask(params, call, async () => TEST),
    'webhooks.deliveries': async ({ params, query }, call) => {
      refuseDeepPage(query);
      const { rows, total } = await listDeliveries(db, await keyOf(params, call), query.state, query);
      return { data: rows.map(toDeliveryRecord), pagination: paginationOf(query, total) };
    },
    'webhooks.redeliver': ({ params, body }, call) =>
      ask(params, call, async (webhook) => {
        const execution = await executionOf(dependencies, params, body.historyId, call);
        if (execution.seq > (await lastTried(db, webhook)))
          throw new ServiceError('delivery_pending', STILL_TO_COME);
        return { kind: 'redelivery', ...execution };
      }),
  };
}

/** A receiver that takes a later entry before those in between passes over them. */
const STILL_TO_COME = 'The webhook has not come to this entry yet: it is sent in its turn.';

const UNAVAILABLE = 'This server sends no webhooks: its operator has set no WEBHOOK_KEYS.';
const TEST: AskedFor = { kind: 'test', history_id: null, seq: null, event: null };

/** The address of a deployment of the caller. @throws `deployment_not_found`, `forbidden` */
async function ownedBy(
  { bus }: Pick<WebhookDependencies, 'bus'>,
  params: Path,
  call: CallContext,
): Promise<string> {
  const { address, relation } = await relationOf(bus, params, call);
  if (relation !== 'owner')
    throw new ServiceError('forbidden', 'Only the owner of a deployment may do this.');
  return address;
}

/** The secret of the first answer. @throws `webhooks_unavailable` where its key is gone by now */
function openFirst(seal: Seal, { id, secret }: CreatedWebhook): string {
  const opened = seal.open(secret, id);
  if (opened === undefined)
    throw new ServiceError(
      'webhooks_unavailable',
      `The webhook ${id} was created, but the server has lost the key of its secret: replace the secret.`,
    );
  return opened;
}

/** @throws `what_if_refused` */
async function refuseFork(
  { bus }: Pick<WebhookDependencies, 'bus'>,
  { worldAddress, address }: Path,
  call: CallContext,
): Promise<void> {
  const request = { params: { worldAddress, address }, query: {}, headers: {}, body: {} };
  const { data } = await bus.call(runtimeContract.rpcs['deployments.get'], request, call);
  if (data.purpose === 'what_if')
    throw new ServiceError('what_if_refused', 'A what-if fork is quiet: nothing of it is sent to webhooks.');
}

/** Events that are told of as not bound: each is compared with all that are. */
const MAX_TOLD = 20;
/** A runtime that does not answer delays nothing longer, in milliseconds. */
const ADVICE_MS = 1000;

/** Events that nothing is sent of while the deployment does not bind them. A warning is not worth a failure. */
async function unboundEvents(
  { bus, clock }: Pick<WebhookDependencies, 'bus' | 'clock'>,
  deployment: string,
  events: readonly string[] | null | undefined,
  call: CallContext,
): Promise<FieldProblem[]> {
  if (events == null) return [];
  const request = { deployment, after: Number.MAX_SAFE_INTEGER };
  const read = async () => {
    const { bindings } = await bus.call(runtimeContract.rpcs['lifecycle.read'], request, call);
    return bindings.map(({ event }) => event);
  };
  const none = () => undefined;
  const bound = await answerInTime(read, { clock, timeoutMs: ADVICE_MS, late: none, failed: none });
  if (bound === undefined) return [];
  const unbound = events.flatMap((event, at) => (bound.includes(event) ? [] : [{ event, at }]));
  return unbound.slice(0, MAX_TOLD).map(({ event, at }) => {
    const meant = closest(event, bound);
    const advice = meant === undefined ? '' : ` Did you mean "${meant}"?`;
    const message = `The event "${event}" is not bound.${advice} Nothing of it is sent until the deployment binds it.`;
    return fieldProblem(`/events/${at}`, 'event_not_bound', message, writeInstead(meant));
  });
}

/** What a name leads to is checked whenever a connection is made. @throws `validation_failed` */
function refuseLiteral(url: string, allows: AllowsAddress): void {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  const isAddress = /^[\d.]+$/.test(host) || host.includes(':');
  if (!isAddress || allows(host)) return;
  const message = 'The address is not public, and the operator allows no others.';
  const errors = [{ pointer: '/url', code: 'address_refused', message }];
  throw new ServiceError('validation_failed', `/url: ${message}`, { errors });
}

/** @throws `history_entry_not_found` also for what is no execution */
async function executionOf(
  { bus }: Pick<WebhookDependencies, 'bus'>,
  { worldAddress, address }: Path,
  historyId: string,
  call: CallContext,
): Promise<Omit<AskedFor, 'kind'> & { readonly seq: number }> {
  const { data } = await bus.call(
    runtimeContract.rpcs['history.get'],
    { params: { worldAddress, address, historyId }, query: {}, headers: {}, body: {} },
    call,
  );
  if (data.kind !== 'execution') throw new ServiceError('history_entry_not_found');
  return { history_id: data.id, seq: data.seq, event: data.event };
}
