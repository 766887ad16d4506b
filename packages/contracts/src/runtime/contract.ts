import { z } from 'zod';
import { referenceRpcs } from '../catalog/definitions.js';
import { deploymentLimits } from '../limits/limits.js';
import { defineContract, rpc } from '../rpc/rpc.js';
import { aiModelRpcs, aiUsageRpcs } from './ai.js';
import { bindingRpcs } from './bindings.js';
import { checkpointRpcs, pastHeadRpcs } from './checkpoints.js';
import { deploymentRpcs } from './deployments.js';
import { draftRpcs } from './drafts.js';
import { executionRpcs } from './execution.js';
import { historyRpcs, keptDefinitionRpcs } from './history.js';
import { mappingRpcs } from './instance-mapping.js';
import { instanceRpcs } from './instances.js';
import { journalRpcs } from './journal.js';
import { lifecycleRpcs } from './lifecycle.js';
import { overviewRpcs } from './overview.js';
import { homeRpcs, ownershipRpcs } from './ownership.js';
import { paymentRpcs, solanaPaymentRpcs } from './payments.js';
import { publicExecutionReadRpcs, publicExecutionRpcs } from './public-execution.js';
import { publishedRpcs } from './public-reads.js';
import { queryRpcs } from './queries.js';
import { acknowledgeRpcs, serviceExecutionRpcs } from './service-executions.js';
import { timerRpcs } from './timers.js';
import { whatIfRpcs } from './what-if.js';

/** Everything that the runtime answers. */
export const runtimeContract = defineContract('runtime', {
  ...deploymentRpcs,
  ...bindingRpcs,
  ...instanceRpcs,
  ...mappingRpcs,
  ...queryRpcs,
  ...executionRpcs,
  ...draftRpcs,
  ...timerRpcs,
  ...whatIfRpcs,
  ...serviceExecutionRpcs,
  ...acknowledgeRpcs,
  ...publicExecutionRpcs,
  ...publicExecutionReadRpcs,
  ...publishedRpcs,
  ...historyRpcs,
  ...keptDefinitionRpcs,
  ...checkpointRpcs,
  ...pastHeadRpcs,
  ...journalRpcs,
  ...lifecycleRpcs,
  ...paymentRpcs,
  ...solanaPaymentRpcs,
  ...aiModelRpcs,
  ...aiUsageRpcs,
  ...overviewRpcs,
  ...ownershipRpcs,
  ...homeRpcs,
  ...referenceRpcs,
  'limits.ofDeployments': rpc({ request: z.object({}), reply: deploymentLimits }),
});
