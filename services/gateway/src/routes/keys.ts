import { identityContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = identityContract;

export const keyRoutes: readonly RoutedRpc[] = [
  rpcs['keys.list'],
  rpcs['keys.create'],
  rpcs['keys.rotate'],
  rpcs['keys.revoke'],
];
