import type { Handlers, schedulerContract } from '@orrery/contracts';
import { previewHandlers } from './operations/preview-handlers.js';
import { type ScheduleDependencies, scheduleHandlers } from './operations/schedule-handlers.js';

/** The handlers of all RPCs of the scheduler. A missing RPC does not compile. */
export const schedulerHandlers = (
  context: ScheduleDependencies,
): Handlers<typeof schedulerContract.rpcs> => ({
  ...previewHandlers(context),
  ...scheduleHandlers(context),
});
