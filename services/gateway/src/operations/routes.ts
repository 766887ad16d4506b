import {
  type Contract,
  catalogContract,
  chainContract,
  identityContract,
  liveContract,
  publicContract,
  runtimeContract,
  schedulerContract,
} from '@orrery/contracts';
import type { RoutedRpc } from './operation.js';

const contracts: readonly Contract[] = [
  catalogContract,
  runtimeContract,
  schedulerContract,
  liveContract,
  publicContract,
  chainContract,
  identityContract,
];

/** Every operation that the gateway offers: the RPCs of the contracts that have an HTTP binding. */
export const allRoutes: readonly RoutedRpc[] = contracts
  .flatMap(({ rpcs }) => Object.values(rpcs))
  .filter((rpc): rpc is RoutedRpc => rpc.http !== undefined);
