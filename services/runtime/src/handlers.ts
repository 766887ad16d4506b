import type { CallContext, Handlers, OwnedRpcs, runtimeContract } from '@orrery/contracts';
import { MAX_CHANGES, MAX_READ } from '@orrery/deciding';
import type { Semaphore } from '@orrery/service-kit';
import { routedToHomes } from './lane/ownership/route-to-home.js';
import {
  forwardHandlers,
  type OwnedHandlers,
  routedForServices,
  routedHandlers,
} from './lane/ownership/route-to-owner.js';
import { bindingReads, bindingWrites } from './operations/bindings/handlers.js';
import { heldHere, untilGone } from './operations/claims/claims.js';
import type { RuntimeContext } from './operations/context.js';
import { creationHandlers } from './operations/deployments/create-deployment.js';
import { deploymentReads, deploymentWrites } from './operations/deployments/handlers.js';
import { homeReads, inAllHomes } from './operations/deployments/in-all-homes.js';
import { modelHandlers, usageReads } from './operations/deployments/models.js';
import { overviewReads } from './operations/deployments/overview.js';
import { pauseHere } from './operations/deployments/pauses.js';
import { publishedReads } from './operations/deployments/published.js';
import { deleteUnused } from './operations/deployments/what-if-forks.js';
import {
  acknowledgements,
  draftTries,
  executionReads,
  executionWrites,
  paymentReads,
  serviceExecutions,
  solanaPayments,
} from './operations/executions/handlers.js';
import { publicExecutionReads, publicExecutions } from './operations/executions/public-execution.js';
import { replays } from './operations/executions/replay.js';
import { timerReads, timerWrites } from './operations/executions/timers.js';
import { checkpointHandlers } from './operations/history/checkpoints.js';
import {
  historyHandlers,
  journalHandlers,
  keptDefinitions,
  lifecycleHandlers,
  publicHistory,
  withPushResults,
} from './operations/history/handlers.js';
import { headBefore } from './operations/history/past-heads.js';
import { instanceReads, instanceWrites } from './operations/instances/handlers.js';
import { instanceMappings } from './operations/instances/map-instances.js';
import { createDeploymentAccess } from './store/deployments/deployment-directory.js';

type RuntimeRpcs = typeof runtimeContract extends { rpcs: infer Rpcs } ? Rpcs : never;

/** One handler for every RPC of the contract. What changes a deployment is answered by its owner. */
export function runtimeHandlers(context: RuntimeContext): Handlers<RuntimeRpcs> {
  const { lanes, reads } = context.pools;
  const writing = { ...context, db: lanes.db };
  const reading = {
    ...context,
    db: reads.db,
    access: createDeploymentAccess(reads.db, context.directory, context.homes.isHere),
  };
  const { 'history.verify': verify, ...history } = historyHandlers(reading);
  const owned: OwnedHandlers<OwnedRpcs['account']> = {
    ...deploymentWrites(writing),
    ...bindingWrites(writing),
    ...instanceWrites(writing),
    ...instanceMappings(writing),
    ...executionWrites(writing),
    ...draftTries(writing),
    ...replays(writing),
    ...timerWrites(writing),
  };
  const served = {
    'references.held': (request, call) => heldHere(context, request, call),
    'journal.headBefore': (request, call) => headBefore(reading, request, call),
    ...serviceExecutions(writing),
    ...publicExecutions(writing),
  } satisfies Partial<Handlers<OwnedRpcs['service']>>;
  const forServices: Handlers<OwnedRpcs['service']> = {
    ...served,
    'accounts.pause': (request, call) => pauseHere(context, 'account', request, call),
    'operator.pause': (request, call) => pauseHere(context, 'operator', request, call),
    'whatIf.sweep': (request, call) => deleteUnused(context, request, call),
  };
  const here: Handlers<RuntimeRpcs> = {
    ...homeReads(reading),
    ...routedHandlers(context, owned),
    ...forwardHandlers(context, owned, forServices),
    ...creationHandlers(context),
    ...deploymentReads(reading),
    ...overviewReads(reading),
    ...instanceReads(reading),
    ...bounded(context.reading, {
      ...bindingReads(reading),
      ...executionReads(reading),
      ...timerReads(reading),
      ...publicExecutionReads(reading),
      ...paymentReads(reading),
      ...usageReads(reading),
      ...publishedReads(reading),
      ...keptDefinitions(reading),
    }),
    ...publicHistory(withPushResults(context, bounded(context.reading, history))),
    // It has a bound of its own, and would keep slots from others while it waits for that.
    'history.verify': verify,
    ...checkpointHandlers(reading),
    ...journalHandlers(context),
    ...bounded(context.reading, lifecycleHandlers(reading)),
    ...modelHandlers(context),
    ...solanaPayments(reading),
    ...routedForServices(context, served),
    ...acknowledgements(writing),
    'limits.ofDeployments': async () => limitsOf(context),
  };
  const routed = routedToHomes(here, inAllHomes(reading, here), context.homes);
  return { ...routed, 'references.held': untilGone(routed['references.held']) };
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
