import { runtimeContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = runtimeContract;

export const executionRoutes: readonly RoutedRpc[] = [rpcs['deployments.execute'], rpcs['executions.get']];
