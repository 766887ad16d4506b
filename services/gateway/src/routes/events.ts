import { catalogContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = catalogContract;

export const eventRoutes: readonly RoutedRpc[] = [
  rpcs['events.list'],
  rpcs['events.create'],
  rpcs['events.get'],
  rpcs['events.update'],
  rpcs['events.delete'],
];
