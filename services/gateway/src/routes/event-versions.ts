import { catalogContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = catalogContract;

export const eventVersionRoutes: readonly RoutedRpc[] = [
  rpcs['versions.list'],
  rpcs['versions.create'],
  rpcs['versions.get'],
  rpcs['versions.update'],
  rpcs['versions.lock'],
  rpcs['versions.delete'],
];
