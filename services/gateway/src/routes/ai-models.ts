import { runtimeContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = runtimeContract;

export const aiModelRoutes: readonly RoutedRpc[] = [rpcs['aiModels.list']];
