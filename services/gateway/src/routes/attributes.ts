import { catalogContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = catalogContract;

export const attributeRoutes: readonly RoutedRpc[] = [
  rpcs['attributes.list'],
  rpcs['attributes.create'],
  rpcs['attributes.get'],
  rpcs['attributes.update'],
  rpcs['attributes.delete'],
];
