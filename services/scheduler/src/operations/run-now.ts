import { type CallContext, type ReplyOf, ServiceError, type scheduleRpcs } from '@orrery/contracts';
import { answerOnce, findAnswer, keyedRequest, transaction } from '@orrery/database';
import { findOccurrence, toRecord } from '../store/ledger/occurrence-store.js';
import { toClaimed } from '../store/occurrences/claim-due.js';
import { insertManual } from '../store/occurrences/make-occurrence.js';
import { authorize, type ScheduleDependencies, type SchedulePath } from './authorize.js';

/** What is left of the caller's time when it is answered, in milliseconds. */
const ANSWER_MARGIN_MS = 500;

/**
 * Executes the event now, by an occurrence of its own that leaves counter, state and due times alone.
 * @throws `schedule_not_found`, `deployment_paused`
 */
export async function runNow(
  dependencies: ScheduleDependencies,
  { params, headers }: { params: SchedulePath; headers: { 'idempotency-key'?: string | undefined } },
  call: CallContext,
): Promise<ReplyOf<(typeof scheduleRpcs)['schedules.run']>> {
  const { db, clock, databaseNow, dispatcher } = dependencies;
  const { deployment, isPaused } = await authorize(dependencies, params, 'owner', call);
  const now = await databaseNow();
  const operation = `run ${deployment} ${params.event}`;
  const keyed = keyedRequest(operation, headers['idempotency-key'], {}, call.caller, now);
  const answer = keyed && (await findAnswer(db, keyed));
  // Stored by this very operation.
  if (answer !== undefined) return { data: toRecord(await findOccurrence(db, answer as number)) };
  if (isPaused) throw new ServiceError('deployment_paused');
  const id = await transaction(db, (trx) =>
    answerOnce(trx, keyed, () => insertManual(trx, deployment, params.event, now)),
  );
  const row = await findOccurrence(db, id);
  if (row.status === 'running') {
    dispatcher.take('manual', [toClaimed({ ...row, deployment, event: params.event })], now);
    const enough = new AbortController();
    const late = clock.sleep(
      Math.max(0, call.deadline - clock.monotonic() - ANSWER_MARGIN_MS),
      enough.signal,
    );
    await Promise.race([dispatcher.settled(id), late.catch(() => undefined)]);
    enough.abort();
  }
  return { data: toRecord(await findOccurrence(db, id)) };
}
