import type { identityContract, RequestOf } from '@orrery/contracts';
import type { z } from 'zod';
import type { GatewayCall } from '../http/routed-rpc.js';

type Rpcs = typeof identityContract.rpcs;

/** Handlers of the gateway's own operations: they see the key that was presented, which never travels over the bus. */
export type IdentityHandlers = {
  [Name in keyof Rpcs]: (
    request: RequestOf<Rpcs[Name]>,
    call: GatewayCall,
  ) => Promise<z.input<Rpcs[Name]['reply']>>;
};
