import { identityContract } from '@orrery/contracts';
import type { RoutedRpc } from '../http/routed-rpc.js';

const { rpcs } = identityContract;

export const signInRoutes: readonly RoutedRpc[] = [rpcs['auth.challenge'], rpcs['auth.token']];
