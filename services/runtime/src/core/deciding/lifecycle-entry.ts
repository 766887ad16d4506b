import {
  type Caller,
  callerName,
  EVALUATOR,
  type JournalKind,
  type JsonObject,
  MOST_CONTENT,
} from '@orrery/contracts';
import {
  type CheckedChanges,
  checkEntrySize,
  type JournalEntryDraft,
  noChanges,
  uuidV7,
} from '@orrery/deciding';

/**
 * An entry that is not an execution: `facts` say what was done. The caller has checked the changes.
 * @throws `change_too_large` for facts that exceed an entry's size.
 */
export function lifecycleEntry(
  kind: JournalKind,
  deployment: string,
  caller: Caller,
  now: number,
  facts: JsonObject,
  changes: CheckedChanges = noChanges(),
): JournalEntryDraft {
  // Not the operator's limit: what is no execution is bounded by what the bus carries alone.
  checkEntrySize(facts, noChanges(), null, MOST_CONTENT);
  return {
    deployment,
    id: uuidV7(now),
    kind,
    event: null,
    eventVersion: null,
    versionHash: null,
    trigger: null,
    caller: callerName(caller),
    status: null,
    input: facts,
    changes,
    result: null,
    error: null,
    llmHash: null,
    attestation: null,
    paymentKey: null,
    decidedAt: new Date(now).toISOString(),
    evaluator: EVALUATOR,
  };
}
