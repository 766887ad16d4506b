import type { JournalFact, LiveExecution } from '@orrery/contracts';
import type { EventStream } from './event-stream.js';
import type { HeadWatch } from './head-watch.js';
import type { JournalClient } from './journal-client.js';

export interface ExecutionStream {
  deployment: string;
  journal: JournalClient;
  heads: HeadWatch;
  stream: EventStream;
  signal: AbortSignal;
  /** Called with the seq of each entry that was sent or skipped. */
  onProgress: (seq: number) => void;
}

/**
 * Sends every execution after `from`, in order and without a gap, page by page at the client's own speed; then waits
 * for more. Ends with the signal, or when the deployment has been deleted.
 */
export async function streamExecutions(
  from: number,
  { deployment, journal, heads, stream, signal, onProgress }: ExecutionStream,
): Promise<'deleted' | 'aborted'> {
  for (let seq = from; !signal.aborted; ) {
    const { entries } = await journal.after(deployment, seq, signal);
    for (const entry of entries) {
      if (entry.kind === 'execution') await stream.send('execution', entry.seq, liveExecutionOf(entry));
      seq = entry.seq;
      onProgress(seq);
      if (entry.kind === 'deleted') return 'deleted';
    }
    const last = entries.at(-1);
    // Who follows the whole journal sees by the id that there is more than executions, and reads it.
    if (last !== undefined && last.kind !== 'execution') stream.heartbeat(last.seq);
    if (entries.length === 0) await heads.beyond(deployment, seq, signal);
  }
  return 'aborted';
}

/** The members that readers of the history see; the others are for services. */
function liveExecutionOf(fact: JournalFact): LiveExecution {
  const { worldAddress: _world, inputHash: _input, binding: _binding, ...execution } = fact;
  return execution;
}
