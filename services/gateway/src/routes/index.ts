import type { RoutedRpc } from '../http/routed-rpc.js';
import { aiModelRoutes } from './ai-models.js';
import { attributeRoutes } from './attributes.js';
import { deploymentRoutes } from './deployments.js';
import { entityInstanceRoutes } from './entity-instances.js';
import { entitySchemaRoutes } from './entity-schemas.js';
import { eventBindingRoutes } from './event-bindings.js';
import { eventVersionRoutes } from './event-versions.js';
import { eventRoutes } from './events.js';
import { executionRoutes } from './execution.js';
import { historyRoutes } from './history.js';
import { keyRoutes } from './keys.js';
import { meRoutes } from './me.js';
import { signInRoutes } from './sign-in.js';
import { streamRoutes } from './stream.js';
import { worldRoutes } from './worlds.js';

/** Every operation that the gateway offers, by resource; what is not listed here is not reachable. */
export const allRoutes: readonly RoutedRpc[] = [
  ...worldRoutes,
  ...entitySchemaRoutes,
  ...attributeRoutes,
  ...eventRoutes,
  ...eventVersionRoutes,
  ...deploymentRoutes,
  ...eventBindingRoutes,
  ...entityInstanceRoutes,
  ...executionRoutes,
  ...historyRoutes,
  ...streamRoutes,
  ...aiModelRoutes,
  ...signInRoutes,
  ...keyRoutes,
  ...meRoutes,
];
