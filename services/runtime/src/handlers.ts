import type { CallContext, Handlers, OwnedRpcs, runtimeContract } from '@orrery/contracts';
import type { Semaphore } from '@orrery/service-kit';
import { bindingReads, bindingWrites } from './bindings/handlers.js';
import { usageReads } from './budgets/handlers.js';
import { heldHere, referenceHandlers } from './claims/held-references.js';
import type { RuntimeContext } from './create-context.js';
import { creationHandlers } from './creation/create-deployment.js';
import { createDeploymentAccess } from './deployments/deployment-directory.js';
import { deploymentReads, deploymentWrites } from './deployments/handlers.js';
import { forwardHandlers, type OwnedHandlers, routedHandlers } from './deployments/owned-handlers.js';
import { pauseHere } from './deployments/pause-for-cause.js';
import { MAX_CHANGES } from './execution/apply-changes.js';
import { serviceExecutionHandlers, serviceExecutionsHere } from './executions/for-service.js';
import { executionReads, executionWrites } from './executions/handlers.js';
import {
  publicExecutionHandlers,
  publicExecutionReads,
  publicExecutionsHere,
} from './executions/public-execution.js';
import { instanceReads, instanceWrites } from './instances/handlers.js';
import { historyHandlers, journalHandlers } from './journal/handlers.js';
import { withPushResults } from './journal/push-results.js';
import { lifecycleHandlers } from './lifecycle/handlers.js';
import { modelHandlers } from './models/handlers.js';
import { paymentReads } from './payments/handlers.js';
import { MAX_READ } from './state/instance-view.js';

type RuntimeRpcs = typeof runtimeContract extends { rpcs: infer Rpcs } ? Rpcs : never;

/** One handler for every RPC of the contract. What changes a deployment is answered by its owner. */
export function runtimeHandlers(context: RuntimeContext): Handlers<RuntimeRpcs> {
  const { lanes, reads } = context.pools;
  const writing = { ...context, db: lanes.db };
  const reading = {
    ...context,
    db: reads.db,
    access: createDeploymentAccess(reads.db, context.directory),
  };
  const { 'history.verify': verify, ...history } = historyHandlers({ ...reading, see: reading.access.see });
  const owned: OwnedHandlers<OwnedRpcs['account']> = {
    ...deploymentWrites(writing),
    ...bindingWrites(writing),
    ...instanceWrites(writing),
    ...executionWrites(writing),
  };
  const forServices: Handlers<OwnedRpcs['service']> = {
    'references.held': (request, call) => heldHere(context, request, call),
    ...serviceExecutionsHere(writing),
    ...publicExecutionsHere(writing),
    'accounts.pause': (request, call) => pauseHere(context, 'account', request, call),
    'operator.pause': (request, call) => pauseHere(context, 'operator', request, call),
  };
  return {
    ...routedHandlers(context, owned),
    ...forwardHandlers(context, owned, forServices),
    ...creationHandlers(context),
    ...deploymentReads(reading),
    ...instanceReads(reading),
    ...bounded(context.reading, {
      ...bindingReads(reading),
      ...executionReads(reading),
      ...publicExecutionReads(reading),
      ...paymentReads(reading),
      ...usageReads(reading),
    }),
    ...withPushResults(context, bounded(context.reading, history)),
    // It has a bound of its own, and would keep slots from others while it waits for that.
    'history.verify': verify,
    ...journalHandlers(context),
    ...bounded(context.reading, lifecycleHandlers(reading)),
    ...modelHandlers(context),
    ...referenceHandlers(context),
    ...serviceExecutionHandlers(writing),
    ...publicExecutionHandlers(writing),
    'limits.ofDeployments': async () => limitsOf(context),
  };
}

const limitsOf = ({ limits, messageWindow }: Pick<RuntimeContext, 'limits' | 'messageWindow'>) => ({
  bindings: limits.bindingsPerDeployment,
  instances: limits.instancesPerDeployment,
  inputBytes: limits.inputBytes,
  stateBytes: limits.stateBytes,
  entryBytes: limits.entryBytes,
  instancesReadPerExecution: MAX_READ,
  instancesChangedPerExecution: MAX_CHANGES,
  messageMaxAgeSeconds: messageWindow.maxAgeMs / 1000,
  messageMaxAheadSeconds: messageWindow.maxAheadMs / 1000,
});

type AnyHandler = (request: never, call: CallContext) => Promise<unknown>;

/** Each call waits for its turn, or is refused with `overloaded`. */
function bounded<H extends object>(reading: Semaphore, handlers: H): H {
  const all = Object.entries(handlers as Record<string, AnyHandler>).map(([name, answer]) => [
    name,
    (request: never, call: CallContext) => reading.run(call.signal, () => answer(request, call)),
  ]);
  return Object.fromEntries(all) as H;
}
