import { runtimeContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = runtimeContract;

export const eventBindingRoutes: readonly RoutedRpc[] = [
  rpcs['bindings.list'],
  rpcs['bindings.add'],
  rpcs['bindings.update'],
  rpcs['bindings.remove'],
];
