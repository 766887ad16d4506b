import { catalogChanged, catalogContract } from './catalog/contract.js';
import { pushResult } from './chain/pushes.js';
import { chainContract } from './chain-contract.js';
import { accountChanged } from './identity/accounts.js';
import { accountContract } from './identity/contract.js';
import type { Contract, Message, NamedRpc } from './rpc/rpc.js';
import { runtimeContract } from './runtime/contract.js';
import { journalEntry, journalHeads } from './runtime/journal.js';
import { lifecycleChanged } from './runtime/lifecycle.js';
import { occurrencesEnded } from './runtime/service-executions.js';
import { schedulerContract } from './scheduler/contract.js';

/** What a service does on the bus, beside publishing and broadcasting in its own name. From this follows what its user may do there (docs/operations.md, "NATS"). */
export interface Traffic {
  readonly serves: Contract | undefined;
  readonly calls: readonly NamedRpc[];
  /** Stored facts that it consumes, each with the durable name of its consumer. */
  readonly consumes: readonly { readonly consumer: string; readonly message: Message }[];
  /** Broadcasts of other services. */
  readonly listens: readonly Message[];
}

const catalog = catalogContract.rpcs;
const runtime = runtimeContract.rpcs;
const routed = [catalogContract, runtimeContract, schedulerContract, chainContract].flatMap(({ rpcs }) =>
  Object.values<NamedRpc>(rpcs).filter(({ http }) => http !== undefined),
);

/** Of each service, by its name. */
export const TRAFFIC = {
  gateway: {
    serves: accountContract,
    calls: [
      ...routed,
      catalog['limits.ofDefinitions'],
      runtime['limits.ofDeployments'],
      runtime['executions.ofCall'],
      runtime['executions.public'],
      runtime['journal.range'],
      runtime['deployments.published'],
      runtime['deployments.describe'],
      runtime['history.published'],
    ],
    consumes: [],
    listens: [journalHeads, pushResult],
  },
  catalog: {
    serves: catalogContract,
    calls: [runtime['references.held'], accountContract.rpcs['accounts.states']],
    consumes: [{ consumer: 'catalog-account-quotas', message: accountChanged }],
    listens: [],
  },
  runtime: {
    serves: runtimeContract,
    calls: [
      catalog['worlds.get'],
      catalog['entitySchemas.list'],
      catalog['claims.world'],
      catalog['claims.schemas'],
      catalog['claims.versions'],
      catalog['claims.release'],
      catalog['definitions.confirm'],
      catalog['definitions.find'],
      catalog['definitions.draft'],
      catalog['definitions.describe'],
      catalog['definitions.indexed'],
      catalog['definitions.lock'],
      chainContract.rpcs['pushes.ofEntries'],
      // Those of another database answer what concerns their deployments.
      ...Object.values<NamedRpc>(runtime),
      accountContract.rpcs['accounts.states'],
    ],
    consumes: [{ consumer: 'runtime-accounts', message: accountChanged }],
    listens: [],
  },
  scheduler: {
    serves: schedulerContract,
    calls: [
      runtime['deployments.authorize'],
      runtime['executions.forService'],
      runtime['executions.outcomeOf'],
      runtime['executions.acknowledge'],
      runtime['journal.heads'],
      runtime['lifecycle.read'],
      catalog['definitions.confirm'],
    ],
    consumes: [{ consumer: 'scheduler-definitions', message: catalogChanged }],
    listens: [lifecycleChanged, occurrencesEnded],
  },
  'chain-pusher': {
    serves: chainContract,
    calls: [
      runtime['deployments.get'],
      runtime['deployments.relation'],
      runtime['history.get'],
      runtime['journal.headBefore'],
      runtime['journal.heads'],
      runtime['journal.range'],
      runtime['lifecycle.read'],
      accountContract.rpcs['accounts.states'],
    ],
    consumes: [
      { consumer: 'chain-pusher-accounts', message: accountChanged },
      { consumer: 'chain-pusher', message: journalEntry },
    ],
    listens: [journalHeads, lifecycleChanged],
  },
} satisfies Record<string, Traffic>;

/** What a reader of facts outside Orrery does, who names its consumer (docs/subscribing.md). */
export const subscriberTraffic = (consumer: string): Traffic => ({
  serves: undefined,
  calls: [runtime['journal.heads'], runtime['journal.range']],
  consumes: [{ consumer, message: journalEntry }],
  listens: [],
});
