import { z } from 'zod';
import { defineMessage } from '../rpc/message.js';

/** Broadcast among schedulers: something may be due earlier than it was. Who misses it looks again within seconds. */
export const dueEarlier = defineMessage('scheduler', 'due-earlier', z.strictObject({}));
