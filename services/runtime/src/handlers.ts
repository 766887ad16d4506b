import type { Handlers, runtimeContract } from '@orrery/contracts';
import { bindingReads, bindingWrites } from './bindings/handlers.js';
import { referenceHandlers } from './claims/held-references.js';
import type { RuntimeContext } from './context.js';
import { creationHandlers } from './creation/create-deployment.js';
import { deploymentReads, deploymentWrites } from './deployments/handlers.js';
import { executionReads, executionWrites } from './execution/handlers.js';
import { instanceReads, instanceWrites } from './instances/handlers.js';
import { historyHandlers, journalHandlers } from './journal/handlers.js';
import { modelHandlers } from './models/handlers.js';
import { forwardHandlers, routedHandlers } from './ownership/owned-handlers.js';

type RuntimeRpcs = typeof runtimeContract extends { rpcs: infer Rpcs } ? Rpcs : never;

/** One handler for every RPC of the contract. What changes a deployment is answered by its owner. */
export function runtimeHandlers(context: RuntimeContext): Handlers<RuntimeRpcs> {
  const owned = {
    ...deploymentWrites(context),
    ...bindingWrites(context),
    ...instanceWrites(context),
    ...executionWrites(context),
  };
  return {
    ...routedHandlers(context, owned),
    ...forwardHandlers(context, owned),
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
