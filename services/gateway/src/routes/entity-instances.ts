import { runtimeContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = runtimeContract;

export const entityInstanceRoutes: readonly RoutedRpc[] = [
  rpcs['instances.list'],
  rpcs['instances.create'],
  rpcs['instances.get'],
  rpcs['instances.update'],
  rpcs['instances.delete'],
];
