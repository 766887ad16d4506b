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
import { awaitRun, type ExecuteDependencies, execute } from '../../runs/execute/execute.js';
import type { ExecutionRequest } from '../../runs/requests/resolve-event.js';
import type { DeploymentAccess } from '../../store/deployments/deployment-directory.js';
import { listPayments, totalsOfPayments } from '../../store/runs/payment-store.js';
import {
  acceptedAnswer,
  readRun,
  readRunOfCall,
  recordOfRun,
  requestOf,
} from '../../store/runs/run-store.js';
import type { Db } from '../../store/tables/schema.js';

type Reads = Pick<typeof executionRpcs, 'executions.get'>;
type Writes = Pick<typeof executionRpcs, 'deployments.execute' | 'executions.ofCall'>;

export function executionWrites(dependencies: ExecuteDependencies): OwnedHandlers<Writes> {
  return {
    'deployments.execute': async (deployment, { query, headers, body }, call) => {
      const request: ExecutionRequest = {
        deploymentId: deployment.id,
        event: body.event,
        input: body.input,
        trigger: 'admin',
        walletAddress: null,
      };
      const asynchronous = prefersAsync(headers.prefer);
      if (query.dryRun === true) {
        if (asynchronous) throw neverAsync();
        return { data: await dryRun(dependencies, request, query, call) };
      }
      const key = headers['idempotency-key'];
      const now = dependencies.clock.now();
      const keyed =
        key === undefined ? undefined : keyedRequest(`execute ${deployment.id}`, key, body, call.caller, now);
      return { data: await execute(dependencies, request, { keyed, asynchronous }, call) };
    },
    'executions.ofCall': async (deployment, { callId }, call) => {
      const { db, runs } = dependencies;
      const row = await readRunOfCall(db, deployment.id, callId);
      if (row === undefined) return { data: null };
      if (requestOf(row).asynchronous) return { data: acceptedAnswer(row.id) };
      const ended = runs.drive(row.id, deployment.id).catch(() => undefined);
      return { data: await awaitRun(dependencies, row.id, ended, call) };
    },
  };
}

const neverAsync = (): ServiceError =>
  refusedHttp([
    fieldProblem(
      '/headers/prefer',
      'invalid',
      'A dry run leaves nothing that could be asked for later: send it without "respond-async".',
    ),
  ]);

export const executionReads = ({
  db,
  access,
}: {
  readonly db: Db;
  readonly access: Pick<DeploymentAccess, 'owned'>;
}): Handlers<Reads> => ({
  'executions.get': async ({ params }, { caller }) => {
    const deployment = await access.owned(params, caller);
    const row = isUuid(params.executionId) ? await readRun(db, params.executionId) : undefined;
    if (row?.deployment_id !== deployment.id) throw new ServiceError('execution_not_found');
    return { data: recordOfRun(row) };
  },
});

interface PaymentReadDependencies {
  readonly db: Db;
  readonly access: Pick<DeploymentAccess, 'owned'>;
}

export const paymentReads = ({ db, access }: PaymentReadDependencies): Handlers<typeof paymentRpcs> => ({
  'payments.list': async ({ params, query }, { caller }) => {
    const { id } = await access.owned(params, caller);
    refuseDeepPage(query);
    const [data, totals] = await Promise.all([listPayments(db, id, query), totalsOfPayments(db, id)]);
    const counted = totals.filter(({ status }) => query.status === undefined || query.status === status);
    const total = counted.reduce((sum, { payments }) => sum + payments, 0);
    return { data, totals, pagination: paginationOf(query, total) };
  },
});
