import { defineContract } from '../rpc/rpc.js';
import { previewRpcs } from './preview.js';
import { scheduleRpcs } from './schedules.js';

/** Everything that the scheduler answers. */
export const schedulerContract = defineContract('scheduler', { ...previewRpcs, ...scheduleRpcs });
