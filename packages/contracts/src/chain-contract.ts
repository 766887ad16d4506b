import { chainRpcs } from './chain/chain-file.js';
import { pushRpcs } from './chain/pushes.js';
import { defineContract } from './rpc/rpc.js';
import { webhookRpcs } from './webhooks/webhooks.js';

/** Everything that the chain-pusher answers. */
export const chainContract = defineContract('chain-pusher', { ...chainRpcs, ...pushRpcs, ...webhookRpcs });
