import { z } from 'zod';
import { defineContract, defineMessage } from '../rpc/rpc.js';
import { previewRpcs, scheduleRpcs } from './schedules.js';

/** Everything that the scheduler answers. */
export const schedulerContract = defineContract('scheduler', { ...previewRpcs, ...scheduleRpcs });

/** Broadcast among schedulers: something may be due earlier than it was. Who misses it looks again within seconds. */
export const dueEarlier = defineMessage('scheduler', 'due-earlier', z.strictObject({}));
