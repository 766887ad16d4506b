import { liveContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = liveContract;

export const streamRoutes: readonly RoutedRpc[] = [rpcs['deployments.stream']];
