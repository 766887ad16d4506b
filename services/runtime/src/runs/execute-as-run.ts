import {
  type AcceptedExecution,
  type CallContext,
  type ExecutionAnswer,
  ServiceError,
} from '@orrery/contracts';
import type { RuntimeContext } from '../context.js';
import type { ExecutionRequest } from '../execution/execute-item.js';
import type { KeyedRequest } from '../idempotency/answer-once.js';
import { uuidV7 } from '../ids/uuid-v7.js';
import { ACCEPTED, acceptItem } from './accept-run.js';
import { acceptedAnswer, answerOfRun } from './run-answer.js';
import { hasEnded, readRun } from './run-row.js';

type Answer = ExecutionAnswer | AcceptedExecution;

/** How long an execution may take that nobody waits for, in milliseconds. */
const ASYNC_PATIENCE_MS = 10 * 60_000;
/** How often a row is looked at that another owner goes on with, in milliseconds. */
const LOOK_MS = 100;

/** Executes an event as a run: answers when it has ended, or, asynchronously, once it is taken on. */
export async function executeAsRun(
  context: RuntimeContext,
  request: ExecutionRequest,
  keyed: KeyedRequest | undefined,
  call: CallContext,
  asynchronous: boolean,
): Promise<Answer> {
  const { lanes, runs, clock } = context;
  const id = uuidV7(clock.now());
  const deadline = asynchronous ? clock.now() + ASYNC_PATIENCE_MS : call.deadline;
  const taken = await lanes.submit(acceptItem(context, { id, request, keyed, asynchronous, deadline }, call));
  // Whatever else is answered was stored for this key by this very operation.
  if (taken !== ACCEPTED) return taken as Answer;
  const ended = runs.drive(id, request.deploymentId).catch(() => undefined);
  return asynchronous ? acceptedAnswer(id) : awaitRun(context, id, ended, call);
}

/** Once it is taken on, a run belongs to whoever owns the deployment: where it goes on elsewhere, its row is watched. */
async function awaitRun(
  { db, clock }: RuntimeContext,
  id: string,
  ended: Promise<void>,
  { deadline, signal }: CallContext,
): Promise<ExecutionAnswer> {
  await ended;
  for (;;) {
    const row = await readRun(db, id);
    if (row !== undefined && hasEnded(row)) return answerOfRun(row);
    if (signal.aborted || clock.now() >= deadline) throw new ServiceError('deadline_exceeded');
    await clock.sleep(LOOK_MS, signal);
  }
}
