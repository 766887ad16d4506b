import { ServiceError } from '@orrery/contracts';
import type { Clock, Logger } from '@orrery/service-kit';
import { type AfterAttempt, type Attempt, afterAttempt } from '../core/webhooks/after-attempt.js';
import { type DeliveredEntry, isWanted } from '../core/webhooks/delivered-entry.js';
import type { Seal } from '../core/webhooks/seal.js';
import { signedHeaders } from '../core/webhooks/signature.js';
import type { Db } from '../store/tables/schema.js';
import {
  type ClaimedWebhook,
  endClaim,
  markDue,
  moveTo,
  recordAttempt,
  type Sent,
} from '../store/webhooks/claimed-webhooks.js';
import { type ClaimedDelivery, recordDelivery } from '../store/webhooks/delivery-store.js';
import { deleteWebhooksOf } from '../store/webhooks/webhook-store.js';
import { type Fork, findFork } from './find-fork.js';
import type { Journals, Next } from './read-journals.js';
import type { Place } from './rooms.js';
import type { Send } from './send-request.js';
import type { WebhookSignals } from './signals.js';

export interface TurnDependencies {
  readonly db: Db;
  readonly seal: Seal;
  readonly journals: Journals;
  readonly send: Send;
  readonly signals: WebhookSignals;
  readonly clock: Clock;
  readonly logger: Logger;
  /** An attempt that takes longer, in milliseconds, is a slow one. */
  readonly slowMs: number;
  readonly random: () => number;
  /** The last entry of a journal that this process has heard of. */
  readonly heard: (deployment: string) => number;
  /** Ends the turn; what is under way may be sent again. */
  readonly signal: AbortSignal;
}

/** A webhook gives its place to the next one after so many milliseconds, or entries, of which most are not wanted. */
const TURN = { ms: 250, entries: 2000 };
/** Before a journal that could not be read is read again, in milliseconds. */
const REST_MS = 5000;

/**
 * Delivers to one webhook, in the order of the journal, until nothing is left, an attempt fails or its turn is over. Resolves
 * with whether something is left that can be done at once.
 *
 *   next entry ─ not wanted ─→ passed over, written down with what comes next
 *   next entry ─ delivered ─→ position and outcome are committed together ─→ next entry
 *   next entry ─ failed ─→ outcome and next attempt are committed; the claim ends
 *   the journal has lost the position ─→ goes on with the entry `tail_lost`, or with a delivery that says the same
 *   deployment deleted ─→ its webhooks are removed
 *
 * A process that dies between an answer and its commit leaves a claim that ends, and the entry is sent again.
 */
export async function deliverTurn(
  dependencies: TurnDependencies,
  webhook: ClaimedWebhook,
  place: Place,
): Promise<boolean> {
  const { db, seal, journals, clock, signal } = dependencies;
  const secrets = openSecrets(seal, webhook);
  const until = clock.monotonic() + TURN.ms;
  let { seq: from } = webhook;
  let head = webhook.seq;
  const goesOn = async (found: Next) =>
    found.is === 'lost' ? findFork(dependencies, webhook, found.head).catch(unread) : found;
  const pass = (seq: number, hash: string | null) => Object.assign(webhook, { seq, hash });
  for (let sent = 0, looked = 0; ; looked += 1) {
    const isOver = sent > 0 && (clock.monotonic() >= until || webhook.is_slow);
    if (signal.aborted || isOver || looked >= TURN.entries) return ended(db, webhook, from, head, false);
    const heard = dependencies.heard(webhook.deployment);
    const next = await journals.next(webhook.deployment, webhook).then(goesOn, unread);
    if (next === 'gone') return gone(db, webhook);
    if (next === 'away') return rested(db, webhook, from, head);
    if (next.is === 'end') {
      await ended(db, webhook, from, head, true);
      // While the claim held, what was heard made nothing due.
      if (heard === dependencies.heard(webhook.deployment)) return false;
      await markDue(db, [webhook.deployment]);
      return true;
    }
    head = next.head;
    if (next.is === 'fork') {
      const told = await goOnAfter(dependencies, webhook, next, secrets, place);
      if (told === 'ended') return ended(db, webhook, from, head, false);
      if (!told.holds) return false;
      sent += told.sent;
      from = next.position.seq;
      pass(from, next.position.hash);
      continue;
    }
    const { entry } = next;
    if (entry.kind === 'deleted') return gone(db, webhook);
    if (isWanted(entry, webhook)) {
      const attempt = await attemptWith(dependencies, webhook.url, secrets, entry, place);
      if (attempt === 'ended') return ended(db, webhook, from, head, false);
      if (!(await record(dependencies, webhook, sentOf(entry), attempt, head, place))) return false;
      sent += 1;
    }
    pass(entry.seq, entry.hash);
  }
}

const UNREADABLE = {
  code: 'secret_unreadable',
  detail: 'The server cannot read its secret. If that goes on, the key is lost: replace the secret.',
};

/** Undefined: no key that this process has opens the secret. Another may have one. */
type Secrets = readonly string[] | undefined;

function openSecrets(
  seal: Seal,
  { id, secret, old_secret: old }: Pick<ClaimedWebhook, 'id' | 'secret' | 'old_secret'>,
): Secrets {
  const current = seal.open(secret, id);
  const before = old === null ? undefined : seal.open(old, id);
  return current === undefined ? undefined : [current, ...(before === undefined ? [] : [before])];
}

function unread(error: unknown): 'gone' | 'away' {
  return error instanceof ServiceError && error.code === 'deployment_not_found' ? 'gone' : 'away';
}

async function gone(db: Db, { deployment }: ClaimedWebhook): Promise<false> {
  await deleteWebhooksOf(db, [deployment]);
  return false;
}

/** Ends the claim, after what was passed over is written down. */
async function ended(db: Db, webhook: ClaimedWebhook, from: number, head: number, isDone: boolean) {
  if (webhook.seq !== from) await moveTo(db, webhook, webhook, head);
  await endClaim(db, webhook, isDone ? null : 0);
  return !isDone;
}

async function rested(db: Db, webhook: ClaimedWebhook, from: number, head: number): Promise<false> {
  if (webhook.seq !== from) await moveTo(db, webhook, webhook, head);
  await endClaim(db, webhook, REST_MS);
  return false;
}

const sentOf = (entry: DeliveredEntry): Sent => ({ ...entry, historyId: entry.id, position: entry });

/** Goes on elsewhere after a loss, after the receiver was told where no entry tells it. */
async function goOnAfter(
  dependencies: TurnDependencies,
  webhook: ClaimedWebhook,
  { position, head, lostFrom }: Fork,
  secrets: Secrets,
  place: Place,
): Promise<'ended' | { readonly holds: boolean; readonly sent: number }> {
  if (lostFrom === null) return { holds: await moveTo(dependencies.db, webhook, position, head), sent: 0 };
  const attempt = await attemptWith(dependencies, webhook.url, secrets, lossEntry(webhook, lostFrom), place);
  if (attempt === 'ended') return attempt;
  const executedAt = new Date(dependencies.clock.now()).toISOString();
  const what = { historyId: null, seq: lostFrom, event: null, executedAt, position };
  return { holds: await record(dependencies, webhook, what, attempt, head, place), sent: 1 };
}

/** Says what a `tail_lost` says that the journal does not have. The same id whenever this loss is told. */
const lossEntry = ({ id, deployment, seq: lost, hash }: ClaimedWebhook, seq: number) => ({
  id: `lost-${id}-${hash ?? lost}`,
  body: JSON.stringify({ kind: 'tail_lost', deployment, seq }),
});

/** Resolves with whether the turn goes on. */
async function record(
  { db, signals, random, slowMs }: TurnDependencies,
  webhook: ClaimedWebhook,
  what: Sent,
  attempt: Attempt,
  head: number,
  place: Place,
): Promise<boolean> {
  const before = { failures: webhook.failures, failingMs: webhook.failing_ms };
  const after = sooner(afterAttempt(attempt, before, random()));
  const isSlow = after.step !== 'delivered' || (attempt.durationMs > slowMs && place.isSlow());
  const holds = await recordAttempt(db, webhook, what, { attempt, after, head, isSlow });
  signals.attempted(after.step, attempt.durationMs);
  Object.assign(webhook, { failures: 0, failing_ms: 0, is_slow: isSlow });
  return holds && after.step === 'delivered';
}

/** A process with the key may begin at any time, whatever the receiver did before. */
const sooner = (after: AfterAttempt): AfterAttempt =>
  after.step === 'retry' && after.problem === UNREADABLE
    ? { ...after, delayMs: Math.min(after.delayMs, UNREADABLE_MOST_MS) }
    : after;

const UNREADABLE_MOST_MS = 60_000;

/** One attempt in its place, which it changes when it takes long. It fails where there is nothing to sign with. */
async function attemptWith(
  { send, slowMs, clock, signal }: TurnDependencies,
  url: string,
  secrets: Secrets,
  { id, body }: Pick<DeliveredEntry, 'id' | 'body'>,
  place: Place,
): Promise<Attempt | 'ended'> {
  if (secrets === undefined) return { problem: UNREADABLE, durationMs: 0 };
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Orrery-Webhooks',
    ...signedHeaders(secrets, id, clock.now(), body),
  };
  const answered = afterLong(slowMs, place.becomeSlow);
  const attempt = await send(url, headers, body, signal).finally(answered);
  return signal.aborted && attempt.status === undefined ? 'ended' : attempt;
}

/** Does something once so much time has passed in which this process was not itself too busy. The function returned ends that. */
function afterLong(ms: number, act: () => void): () => void {
  const from = performance.now();
  let timer = setTimeout(() => {
    // What a process that is late finds slow may be its own doing: more attempts at once would make it later.
    if (performance.now() - from > ms * LATE) timer = setTimeout(act, ms);
    else act();
  }, ms);
  return () => clearTimeout(timer);
}

const LATE = 1.25;

/** Sends what was asked for, once, whatever is tried again meanwhile. */
export async function deliverAsked(
  dependencies: TurnDependencies,
  asked: ClaimedDelivery,
  place: Place,
): Promise<void> {
  const { db, seal, journals, signals } = dependencies;
  const secrets = openSecrets(seal, asked);
  const entry =
    asked.seq === null ? testEntry(asked) : await journals.at(asked.deployment, asked.seq).catch(unread);
  // Claimed again by itself: the runtime does not answer.
  if (entry === 'away') return;
  const isThere = typeof entry === 'object' && (asked.seq === null || entry.id === asked.history_id);
  const attempt: Attempt | 'ended' = isThere
    ? await attemptWith(dependencies, asked.url, secrets, entry, place)
    : { problem: LOST, durationMs: 0 };
  if (attempt === 'ended') return;
  signals.attempted('asked', attempt.durationMs);
  await recordDelivery(db, asked, attempt);
}

const LOST = { code: 'entry_lost', detail: 'The journal does not have the entry any more.' };

/** Signed like an entry, and none: a receiver tells it by its `kind`. */
const testEntry = ({ webhook_id: webhook, number, deployment }: ClaimedDelivery) => ({
  id: `test-${webhook}-${number}`,
  body: JSON.stringify({ kind: 'test', deployment, webhook }),
});
