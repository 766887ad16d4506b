import { catalogContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = catalogContract;

export const worldRoutes: readonly RoutedRpc[] = [
  rpcs['worlds.list'],
  rpcs['worlds.create'],
  rpcs['worlds.get'],
  rpcs['worlds.update'],
  rpcs['worlds.publish'],
  rpcs['worlds.unpublish'],
  rpcs['worlds.delete'],
];
