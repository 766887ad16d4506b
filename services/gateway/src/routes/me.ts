import { identityContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = identityContract;

export const meRoutes: readonly RoutedRpc[] = [rpcs['accounts.me']];
