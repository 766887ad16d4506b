import { z } from 'zod';
import { pushRecord } from '../chain/pushes.js';
import { DEPLOYMENT_PATH, IN_DEPLOYMENT } from '../names/names.js';
import { operationsAt } from '../rpc/operation.js';
import { defineContract } from '../rpc/rpc.js';
import { hashedEntry, type JournalFact, readBeside } from './journal.js';

export const liveExecution = z.strictObject({ ...hashedEntry.shape, ...readBeside }).meta({
  id: 'LiveExecution',
  description: 'An execution as the live stream tells it, right after its commit.',
});
export type LiveExecution = z.infer<typeof liveExecution>;

/** An entry without the members that are for services alone: as whoever may read the deployment sees it. */
export function liveExecutionOf(fact: JournalFact): LiveExecution {
  const { worldAddress: _world, inputHash: _input, binding: _binding, ...execution } = fact;
  return execution;
}

/** The last event of a stream that does not go on: a client that reconnects is refused. */
const streamEnd = z
  .strictObject({
    code: z.string().describe('Why, as an error code such as `unauthorized` or `deployment_not_found`.'),
  })
  .meta({ id: 'StreamEnd', description: 'Why the server has ended the stream for good.' });

/**
 * What streams tell everyone. Who has no key is told of no pushes: a thousand streams would hear of each several times, and
 * the history has how they stand.
 */
export const publicEvents = {
  execution: liveExecution.describe('A committed execution, in order; its `id` is the `seq`.'),
  end: streamEnd.describe('The last event, when the key or the deployment is no longer there.'),
};

/** Answered by the gateway itself: a stream is no single reply. */
export const liveContract = defineContract('gateway', {
  'deployments.stream': operationsAt(DEPLOYMENT_PATH, 'History', IN_DEPLOYMENT).read(
    '/stream',
    'Stream the executions of a deployment as they commit',
    {
      http: {
        stream: {
          execution: publicEvents.execution,
          push: pushRecord.describe(
            'A push that has changed, without an `id`. It may get lost: the list of pushes has all.',
          ),
          end: publicEvents.end,
        },
      },
      headers: z.strictObject({
        'last-event-id': z
          .string()
          .regex(
            /^(0|[1-9]\d{0,14})$/,
            'The id of the last received event is required: at most 15 digits without leading zeros, such as 42.',
          )
          .optional()
          .describe(
            'The `id` of the last event that was received: the stream goes on after it without a gap. Absent: it begins now.',
          ),
      }),
      data: liveExecution.describe('The data of an event `execution`.'),
    },
  ),
});
