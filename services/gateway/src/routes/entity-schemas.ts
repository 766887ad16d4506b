import { catalogContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = catalogContract;

export const entitySchemaRoutes: readonly RoutedRpc[] = [
  rpcs['entitySchemas.list'],
  rpcs['entitySchemas.create'],
  rpcs['entitySchemas.get'],
  rpcs['entitySchemas.update'],
  rpcs['entitySchemas.delete'],
];
