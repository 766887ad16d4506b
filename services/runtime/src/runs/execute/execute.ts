import {
  type AcceptedExecution,
  type CallContext,
  canonicalHash,
  type ExecutionAnswer,
  type JsonObject,
  ServiceError,
} from '@orrery/contracts';
import { type KeyedRequest, toCallError } from '@orrery/database';
import { decideExecution, uuidV7, waitsForBeacon } from '@orrery/deciding';
import { withinTime } from '@orrery/service-kit';
import type { Payment } from '../../core/payments/payment.js';
import { usableModel } from '../../core/prompting/model.js';
import { type FixedRound, roundFor } from '../../core/randomness/beacon.js';
import { type FindUse, keyedItem, type OnceRequest, onceItem } from '../../lane/items/once-item.js';
import type { ItemOutcome, WorkItem } from '../../lane/items/work-item.js';
import type { PaymentEffect } from '../../store/commit/effects.js';
import {
  acceptedAnswer,
  answerOfRun,
  hasEnded,
  type RunRequest,
  readRun,
  unendedAnswer,
} from '../../store/runs/run-store.js';
import { awaitsPayment, type DeploymentState, keyIdOf } from '../../store/state/deployment-state.js';
import { conclude } from '../requests/conclude.js';
import { type Listing, listingOf } from '../requests/listing.js';
import { sourceFor } from '../requests/randomness.js';
import {
  decidedBy,
  type PaidRequest,
  type PaymentToVerify,
  requirePayment,
  verifyPayment,
} from '../requests/require-payment.js';
import {
  type Confirmed,
  confirmVersion,
  type ExecutionRequest,
  executionOf,
  modelIdOf,
  priceOf,
  resolveEvent,
} from '../requests/resolve-event.js';
import type { RunDependencies } from '../requests/run-dependencies.js';
import type { RunKeeper } from '../steps/drive-run.js';

export interface ExecuteDependencies extends RunDependencies {
  readonly findUse: FindUse;
  readonly runs: Pick<RunKeeper, 'drive'>;
}

interface ExecutionOptions {
  /** The id of the run if the execution becomes one. */
  readonly runId: string;
  readonly keyed?: KeyedRequest | undefined;
  readonly once?: OnceRequest | undefined;
  /** The caller does not wait: the execution becomes a run, whatever decides it. */
  readonly asynchronous: boolean;
  /** The caller waits, but a run goes on without it. */
  readonly outlivesCall?: boolean;
}

const ASYNC_TIMEOUT_MS = 10 * 60_000;

/**
 * One execution as an item of its deployment's lane. The definition is confirmed while the item is prepared; read →
 * decide → apply → check happen in the lane, against the state that the previous item left. An execution that needs a
 * decider, or is asynchronous, becomes a run: the item then commits the run's row, which claims the
 * Idempotency-Key, and answers with the run's id.
 */
export function executionItem(
  dependencies: ExecuteDependencies,
  request: ExecutionRequest,
  { runId, keyed, once, asynchronous, outlivesCall = asynchronous }: ExecutionOptions,
  call: CallContext,
): WorkItem<ExecutionAnswer | AcceptedExecution | PaymentToVerify> {
  const { catalog, clock, models, limits, aiDeadlineMs, payments, decider, randomnessKeys, beacons } =
    dependencies;
  const startedAt = performance.now();
  let confirmed: Confirmed | undefined;
  let listing: Listing = {};
  const latest = clock.now() + (outlivesCall ? ASYNC_TIMEOUT_MS : aiDeadlineMs);
  const accept = (state: DeploymentState, now: number, payment?: Payment) => {
    const deadline = payment === undefined ? latest : Math.min(now + aiDeadlineMs, decidedBy(payment));
    const { definition } = confirmed ?? {};
    // What is not confirmed yet may turn out to draw from it.
    const chain =
      definition === undefined || waitsForBeacon(definition, request.replay)
        ? beacons.knownChain()
        : undefined;
    const round = chain && { chain: chain.hash, number: roundFor(chain, now) };
    const run = { id: runId, request, call, keyed, once, asynchronous, deadline, payment, round };
    return acceptRun(state, run, now);
  };
  const item: WorkItem<ExecutionAnswer | AcceptedExecution | PaymentToVerify> = {
    deploymentId: request.deploymentId,
    deadline: call.deadline,
    signal: call.signal,
    prepare: async (state) => {
      const confirming = confirmVersion(catalog, state, request);
      // A catalog that is away is waited for by the run.
      confirmed = await (asynchronous ? confirming.catch(() => undefined) : confirming);
      if (confirmed?.definition && waitsForBeacon(confirmed.definition, request.replay))
        await beacons.chain();
      if (
        request.offer !== undefined &&
        priceOf(confirmed?.definition, request) > 0 &&
        state.row.pay_to_address
      )
        [listing] = await Promise.all([
          listingOf(dependencies, state, request, confirmed),
          payments.prepare(state.row.pay_to_address),
        ]);
    },
    decide: (state, _ids, now) => {
      const resolved = resolveEvent(state, request, confirmed);
      if (asynchronous && confirmed === undefined) return accept(state, now);
      if (resolved === 'prepare') return { kind: 'prepare' };
      const isAi = resolved.definition.mutation === 'ai';
      if (isAi) {
        const { record } = usableModel(models, modelIdOf(state.row, models, request.replay));
        decider.refuseCrowd?.(state.row.owner_account_id, record.modelId);
      }
      if (asynchronous) return accept(state, now);
      const { input, replay } = request;
      const { definition } = resolved;
      const isToWait = waitsForBeacon(definition, replay);
      const drawn = { run: runId, input, replayed: replay?.seed };
      const randomness = definition.draws && !isToWait ? sourceFor(randomnessKeys, state, drawn) : undefined;
      const execution = executionOf(resolved, state, request, call, limits, now, randomness);
      const priceUsd = priceOf(resolved.definition, request);
      if (priceUsd > 0 && request.offer !== undefined) {
        const context = { execution, state, offer: request.offer, priceUsd, now, listing };
        return requirePayment(dependencies, context, (payment) => accept(state, now, payment));
      }
      if (isAi || isToWait) return accept(state, now);
      const decision = decideExecution(execution, state.instances);
      const elapsed = () => performance.now() - startedAt;
      return conclude(resolved, execution, decision, { elapsed, state, timer: request.timer });
    },
  };
  const acceptedAs = asynchronous ? acceptedAnswer : undefined;
  const withKey = keyed === undefined ? item : keyedItem(dependencies.db, item, keyed, acceptedAs);
  const withKeys = once === undefined ? withKey : onceItem(dependencies.findUse, withKey, once);
  return {
    ...withKeys,
    // If the commit's answer was lost, this item is decided again and its run already exists. The item answers with that
    // run; otherwise it would be refused because of its own key.
    decide: (state, ids, now) =>
      state.runs.has(runId)
        ? { kind: 'answer', answer: acceptedAnswer(runId) }
        : withKeys.decide(state, ids, now),
  };
}

interface NewRun {
  readonly id: string;
  readonly request: ExecutionRequest;
  readonly call: CallContext;
  readonly keyed: KeyedRequest | undefined;
  readonly once: OnceRequest | undefined;
  readonly asynchronous: boolean;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** The payment that was verified for it; it is among the once-keys. */
  readonly payment?: Payment | undefined;
  readonly round?: FixedRound | undefined;
}

/** Runs of one deployment that may be open at the same time, beside those that wait for unclear payments. */
const MAX_OPEN_RUNS = 1000;
/** Runs of one deployment that may wait for unclear payments: further ones are not paid for. */
const MAX_AWAITING = 1000;

/** Commits the row of a new run, which claims its keys. @throws `overloaded` */
function acceptRun(state: DeploymentState, run: NewRun, now: number): ItemOutcome<AcceptedExecution> {
  const { id, keyed, once, asynchronous, deadline, call, request, payment, round } = run;
  const { awaiting, size } = state.runs;
  if (size - awaiting >= MAX_OPEN_RUNS)
    throw new ServiceError('overloaded', 'Too many executions of this deployment are waiting.');
  if (payment !== undefined && awaiting >= MAX_AWAITING)
    throw new ServiceError('overloaded', 'Too many payments for this deployment are unclear.');
  const { deploymentId, event, input, trigger, walletAddress, expected, replay, timer } = request;
  const stored: RunRequest = {
    ...{ event, input, trigger, walletAddress, caller: call.caller, asynchronous },
    ...(once && { onceKeys: once.keys }),
    ...(expected && { expected }),
    ...(payment && { payment }),
    ...(replay && { replay }),
    ...(timer && { timer }),
    ...(round && { round }),
  };
  const requestHash = canonicalHash(keyed?.request ?? { event, input });
  const claim = keyed === undefined ? null : { keyId: keyIdOf(keyed), requestHash };
  const open = { id, claim, holds: null, staged: false, awaitsPayment: false };
  const insert = {
    id,
    deployment_id: deploymentId,
    state: 'deciding' as const,
    request: { ...stored } as unknown as JsonObject,
    request_hash: requestHash,
    account_id: keyed?.accountId ?? null,
    operation: keyed?.operation ?? null,
    key: keyed?.key ?? null,
    call_id: call.callId ?? null,
    deadline: new Date(deadline),
    created_at: new Date(now),
  };
  return {
    kind: 'record',
    run: { id, open, write: { insert } },
    ...(payment && { payment: reservation(payment, run, now) }),
    settlement: { reply: acceptedAnswer(id) },
  };
}

function reservation(payment: Payment, { id, request }: NewRun, now: number): PaymentEffect {
  const { key, requirement, payer, validUntil } = payment;
  const { network, asset, amount, decimals, payTo } = requirement;
  const columns = {
    key,
    deployment_id: request.deploymentId,
    run_id: id,
    status: 'reserved' as const,
    wallet: request.walletAddress ?? '',
    event: request.event,
    input_hash: canonicalHash(request.input),
    network,
    asset,
    amount,
    decimals,
    pay_to: payTo,
    payer,
    offered: { ...payment } as unknown as JsonObject,
    valid_until: new Date(validUntil),
    created_at: new Date(now),
    updated_at: new Date(now),
  };
  return { kind: 'reserve', key, columns };
}

interface ExecuteOptions extends Omit<ExecutionOptions, 'runId'> {
  /** Called with the id of the run that the execution becomes. */
  readonly onAccepted?: (runId: string) => void;
}

/** Answers once the execution has ended; once its run is committed, where it is asynchronous or the caller leaves it. */
export async function execute(
  dependencies: ExecuteDependencies,
  request: ExecutionRequest,
  options: ExecuteOptions,
  call: CallContext,
): Promise<ExecutionAnswer | AcceptedExecution> {
  const { lanes, runs, clock } = dependencies;
  const runId = uuidV7(clock.now());
  const submit = ({ request, once }: PaidRequest) =>
    lanes.submit(executionItem(dependencies, request, { ...options, runId, once }, callBy(request, call)));
  let asked: PaidRequest = { request, once: options.once };
  let answer = await submit(asked);
  while ('toVerify' in answer) {
    asked = await verifyPayment(dependencies, asked, answer.toVerify);
    answer = await submit(asked);
  }
  // With another id it is the stored answer to the same key, or the run that has claimed it.
  if (!('executionId' in answer) || answer.executionId !== runId) return answer;
  options.onAccepted?.(runId);
  const ended = runs.drive(runId, request.deploymentId).catch(() => undefined);
  return options.asynchronous || call.leavesRun === true
    ? answer
    : awaitRun(dependencies, runId, ended, call);
}

/** The call of who pays, once that is known. */
const callBy = ({ offer, walletAddress: wallet }: ExecutionRequest, call: CallContext): CallContext =>
  offer?.byPayer === true && wallet !== null ? { ...call, caller: { kind: 'wallet', wallet } } : call;

/** How often the row of a run is read that another owner continues, in milliseconds. */
const POLL_MS = 100;

/** The answer goes out this long before the caller stops waiting, in milliseconds. */
export const ANSWER_MARGIN_MS = 250;

/** The run is stored, so it goes on. @throws ServiceError that its outcome is unknown, with its id */
const unseen =
  (executionId: string) =>
  (error: unknown): never => {
    throw new ServiceError('unavailable', `${toCallError(error).message} ${GOES_ON}`, {
      facts: { executionId, outcome: 'unknown' },
      cause: error,
    });
  };

const GOES_ON = 'The execution goes on: its executionId tells how it stands.';

/**
 * Waits for the end of a run, or until nobody can tell whether its payment was charged. When another process becomes the
 * deployment's owner, its row is polled.
 * @throws `deadline_exceeded` with the fact `executionId` when the run goes on after the call's deadline, `unavailable` with
 * the same fact when its row cannot be read
 */
export async function awaitRun(
  { db, clock }: Pick<ExecuteDependencies, 'db' | 'clock'>,
  id: string,
  ended: Promise<void>,
  { deadline: waitsUntil, signal }: CallContext,
): Promise<ExecutionAnswer | AcceptedExecution> {
  const deadline = waitsUntil - ANSWER_MARGIN_MS;
  // A run outlives the deadline while the database is away.
  await withinTime(clock, deadline - clock.monotonic(), signal, () => ended).catch(() => undefined);
  for (;;) {
    const row = await readRun(db, id).catch(unseen(id));
    if (row !== undefined && hasEnded(row)) return answerOfRun(row);
    if (row !== undefined && awaitsPayment(row.state)) return unendedAnswer(row);
    if (signal.aborted || clock.monotonic() >= deadline)
      throw new ServiceError('deadline_exceeded', undefined, { facts: { executionId: id } });
    await clock.sleep(POLL_MS, signal);
  }
}
