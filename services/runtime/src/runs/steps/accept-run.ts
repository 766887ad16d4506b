import {
  type AcceptedExecution,
  type Caller,
  canonicalHash,
  type JsonObject,
  ServiceError,
} from '@orrery/contracts';
import type { KeyedRequest } from '@orrery/database';
import type { Payment } from '../../core/payments/payment.js';
import type { OnceRequest } from '../../lane/items/once-item.js';
import type { ItemOutcome } from '../../lane/items/work-item.js';
import type { PaymentEffect } from '../../store/commit/batch.js';
import { acceptedAnswer, type RunRequest } from '../../store/runs/run-store.js';
import { type DeploymentState, keyIdOf } from '../../store/state/deployment-state.js';
import type { ExecutionRequest } from '../requests/resolve-event.js';

interface NewRun {
  readonly id: string;
  readonly request: ExecutionRequest;
  readonly caller: Caller;
  readonly keyed: KeyedRequest | undefined;
  readonly once: OnceRequest | undefined;
  readonly asynchronous: boolean;
  /** Of the client's request that waits for the run. */
  readonly callId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** The payment that was verified for it; it is among the once-keys. */
  readonly payment?: Payment | undefined;
}

/** Runs of one deployment that may be open at the same time, beside those that wait for unclear payments. */
const MAX_OPEN_RUNS = 1000;
/** Runs of one deployment that may wait for unclear payments: further ones are not paid for. */
const MAX_AWAITING = 1000;

/** Commits the row of a new run, which claims its keys. @throws `overloaded` */
export function acceptRun(state: DeploymentState, run: NewRun, now: number): ItemOutcome<AcceptedExecution> {
  const { id, keyed, once, asynchronous, deadline, caller, request, payment } = run;
  const { awaiting, size } = state.runs;
  if (size - awaiting >= MAX_OPEN_RUNS)
    throw new ServiceError('overloaded', 'Too many executions of this deployment are waiting.');
  if (payment !== undefined && awaiting >= MAX_AWAITING)
    throw new ServiceError('overloaded', 'Too many payments for this deployment are unclear.');
  const { deploymentId, event, input, trigger, walletAddress, expected } = request;
  const asked = { event, input, trigger, walletAddress, caller, asynchronous };
  const stored: RunRequest = {
    ...asked,
    ...(once && { onceKeys: once.keys }),
    ...(expected && { expected }),
    ...(payment && { payment }),
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
    call_id: run.callId ?? null,
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
