import { runtimeContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = runtimeContract;

export const historyRoutes: readonly RoutedRpc[] = [
  rpcs['history.list'],
  rpcs['history.verify'],
  rpcs['history.get'],
];
