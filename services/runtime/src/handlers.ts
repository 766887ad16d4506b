import type { Handlers, OwnedRpcs, runtimeContract } from '@orrery/contracts';
import { pauseHere } from './accounts/pause-by-account.js';
import { bindingReads, bindingWrites } from './bindings/handlers.js';
import { heldHere, referenceHandlers } from './claims/held-references.js';
import type { RuntimeContext } from './create-context.js';
import { creationHandlers } from './creation/create-deployment.js';
import { deploymentReads, deploymentWrites } from './deployments/handlers.js';
import { forwardHandlers, type OwnedHandlers, routedHandlers } from './deployments/owned-handlers.js';
import { executionReads, executionWrites } from './executions/handlers.js';
import { instanceReads, instanceWrites } from './instances/handlers.js';
import { historyHandlers, journalHandlers } from './journal/handlers.js';
import { modelHandlers } from './models/handlers.js';

type RuntimeRpcs = typeof runtimeContract extends { rpcs: infer Rpcs } ? Rpcs : never;

/** One handler for every RPC of the contract. What changes a deployment is answered by its owner. */
export function runtimeHandlers(context: RuntimeContext): Handlers<RuntimeRpcs> {
  const owned: OwnedHandlers<OwnedRpcs['account']> = {
    ...deploymentWrites(context),
    ...bindingWrites(context),
    ...instanceWrites(context),
    ...executionWrites(context),
  };
  const forServices: Handlers<OwnedRpcs['service']> = {
    'references.held': (request, call) => heldHere(context, request, call),
    'accounts.pause': (request, call) => pauseHere(context, request, call),
  };
  return {
    ...routedHandlers(context, owned),
    ...forwardHandlers(context, owned, forServices),
    ...creationHandlers(context),
    ...deploymentReads(context),
    ...bindingReads(context),
    ...instanceReads(context),
    ...executionReads(context),
    ...historyHandlers({ ...context, see: context.access.see }),
    ...journalHandlers(context),
    ...modelHandlers(context),
    ...referenceHandlers(context),
  };
}
