import { z } from 'zod';
import { address } from '../ids/address.js';
import { defineMessage } from '../rpc/message.js';
import { pushRecord } from './push-record.js';

/** How pushes of one deployment stand after a change; the newest message of a push is not always the last to arrive. */
export const pushesChanged = z
  .strictObject({ deployment: address, pushes: z.array(pushRecord) })
  .meta({ id: 'PushesChanged' });
export type PushesChanged = z.infer<typeof pushesChanged>;

/** Published after the commit that changed them. */
export const pushResult = defineMessage('chain-pusher', 'push-result', pushesChanged);
