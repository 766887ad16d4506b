import { catalogContract } from './catalog/contract.js';
import { chainContract } from './chain-contract.js';
import { identityContract } from './identity/contract.js';
import type { Contract, HttpBinding, NamedRpc } from './rpc/rpc.js';
import { runtimeContract } from './runtime/contract.js';
import { liveContract } from './runtime/live-executions.js';
import { publicContract } from './runtime/public-execution.js';
import { readingContract } from './runtime/public-reads.js';
import { schedulerContract } from './scheduler/contract.js';

/** An RPC that is offered over HTTP. */
export type RoutedRpc = NamedRpc & { http: HttpBinding };

const contracts: readonly Contract[] = [
  catalogContract,
  runtimeContract,
  schedulerContract,
  liveContract,
  publicContract,
  readingContract,
  chainContract,
  identityContract,
];

/** Every operation that is offered over HTTP: the RPCs of the contracts that have an HTTP binding. */
export const httpOperations: readonly RoutedRpc[] = contracts
  .flatMap(({ rpcs }) => Object.values(rpcs))
  .filter((rpc): rpc is RoutedRpc => rpc.http !== undefined);
