import {
  type executionRpcs,
  fieldProblem,
  type Handlers,
  paginationOf,
  type paymentRpcs,
  prefersAsync,
  refuseDeepPage,
  refusedHttp,
  ServiceError,
} from '@orrery/contracts';
import { keyedRequest } from '@orrery/database';
import { isUuid } from '../../core/entries/entry.js';
import type { OwnedHandlers } from '../../lane/ownership/route-to-owner.js';
import { dryRun } from '../../runs/execute/dry-run.js';
import { awaitRun, execute } from '../../runs/execute/execute.js';
import { listPayments, totalsOfPayments } from '../../store/runs/payment-store.js';
import {
  acceptedAnswer,
  readRun,
  readRunOfCall,
  recordOfRun,
  requestOf,
} from '../../store/runs/run-store.js';
import type { RuntimeContext } from '../context.js';

type Reads = Pick<typeof executionRpcs, 'executions.get'>;
type Writes = Pick<typeof executionRpcs, 'deployments.execute' | 'executions.ofCall'>;

export function executionWrites(context: RuntimeContext): OwnedHandlers<Writes> {
  return {
    'deployments.execute': async (deployment, { query, headers, body }, call) => {
      const { event, input } = body;
      const from = { trigger: 'admin', walletAddress: null } as const;
      const request = { deploymentId: deployment.id, event, input, ...from };
      const asynchronous = prefersAsync(headers.prefer);
      if (query.dryRun === true) {
        if (asynchronous) throw refusedHttp([fieldProblem('/headers/prefer', 'invalid', NEVER_ASYNC)]);
        return { data: await dryRun(context, request, query, call) };
      }
      const key = headers['idempotency-key'];
      const now = context.clock.now();
      const keyed =
        key === undefined ? undefined : keyedRequest(`execute ${deployment.id}`, key, body, call.caller, now);
      return { data: await execute(context, request, { keyed, asynchronous }, call) };
    },
    'executions.ofCall': async (deployment, { callId }, call) => {
      const { db, runs } = context;
      const row = await readRunOfCall(db, deployment.id, callId);
      if (row === undefined) return { data: null };
      if (requestOf(row).asynchronous) return { data: acceptedAnswer(row.id) };
      const ended = runs.drive(row.id, deployment.id).catch(() => undefined);
      return { data: await awaitRun(context, row.id, ended, call) };
    },
  };
}

const NEVER_ASYNC =
  'A dry run leaves nothing that could be asked for later: send it without "respond-async".';

export const executionReads = ({ db, access }: RuntimeContext): Handlers<Reads> => ({
  'executions.get': async ({ params }, { caller }) => {
    const deployment = await access.owned(params, caller);
    const row = isUuid(params.executionId) ? await readRun(db, params.executionId) : undefined;
    if (row?.deployment_id !== deployment.id) throw new ServiceError('execution_not_found');
    return { data: recordOfRun(row) };
  },
});

export const paymentReads = ({ db, access }: RuntimeContext): Handlers<typeof paymentRpcs> => ({
  'payments.list': async ({ params, query }, { caller }) => {
    const { id } = await access.owned(params, caller);
    refuseDeepPage(query);
    const [data, totals] = await Promise.all([listPayments(db, id, query), totalsOfPayments(db, id)]);
    const counted = totals.filter(({ status }) => query.status === undefined || query.status === status);
    const total = counted.reduce((sum, { payments }) => sum + payments, 0);
    return { data, totals, pagination: paginationOf(query, total) };
  },
});
