import { defineMessage } from '@orrery/contracts';
import { z } from 'zod';

/** Broadcast among the runtime's processes: there are partitions to take. Losing it costs a few seconds at most. */
export const partitionsFreed = defineMessage('runtime', 'partitions-freed', z.object({ by: z.string() }));
