import { runtimeContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = runtimeContract;

export const deploymentRoutes: readonly RoutedRpc[] = [
  rpcs['deployments.list'],
  rpcs['deployments.create'],
  rpcs['deployments.get'],
  rpcs['deployments.update'],
  rpcs['deployments.delete'],
  rpcs['deployments.lock'],
  rpcs['deployments.publish'],
  rpcs['deployments.unpublish'],
  rpcs['deployments.pause'],
  rpcs['deployments.resume'],
];
