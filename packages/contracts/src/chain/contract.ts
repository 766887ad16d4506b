import { z } from 'zod';
import { address } from '../records/fields.js';
import { defineContract, defineMessage } from '../rpc/rpc.js';
import { chainRpcs } from './chain-file.js';
import { pushRecord } from './pushes.js';
import { pushRpcs } from './pushes.js';

/** Everything that the chain-pusher answers. */
export const chainContract = defineContract('chain-pusher', { ...chainRpcs, ...pushRpcs });

/** How pushes of one deployment stand after a change; the newest message of a push is not always the last to arrive. */
export const pushesChanged = z
  .strictObject({ deployment: address, pushes: z.array(pushRecord) })
  .meta({ id: 'PushesChanged' });
export type PushesChanged = z.infer<typeof pushesChanged>;

/** Published after the commit that changed them. */
export const pushResult = defineMessage('chain-pusher', 'push-result', pushesChanged);
