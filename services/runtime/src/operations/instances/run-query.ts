import { type CallContext, ServiceError } from '@orrery/contracts';
import { FairSlots, orAborted } from '@orrery/service-kit';
import type { SeenDeployment } from '../../store/deployments/deployment-directory.js';
import { computedTo } from '../../store/deployments/past-instances.js';
import { QueryWork, withinTime } from '../../store/deployments/queries/query-work.js';
import { readPast } from '../../store/journal/verify/verify-journal.js';
import type { Db } from '../../store/tables/schema.js';
import type { RuntimeContext } from '../context.js';

/** How long a query waits for its turn, in milliseconds, until it is refused. */
const MAX_WAIT_MS = 5000;
const MAX_WAITING = 1000;
/** The longest rest after a query, in milliseconds. */
const MAX_REST_MS = 500;

type Call = Pick<CallContext, 'signal' | 'deadline'>;

/** Runs a query in its turn; deployments take turns. Those that wait with the same question get one answer. */
export type RunQuery = <T>(
  asked: Asked,
  call: Call,
  query: (db: Db, work: QueryWork) => Promise<T>,
) => Promise<T>;

interface Asked {
  readonly deployment: SeenDeployment;
  readonly atSeq: number | undefined;
  /** As JSON: all that the answer depends on, beside the deployment and the time. */
  readonly question: readonly unknown[];
}

export function createRunQuery(context: RuntimeContext): RunQuery {
  const { clock, pools } = context;
  const slots = new FairSlots(pools.queriesAtOnce);
  /** What has not begun: it will read what is there later than each who joins it has asked. */
  const open = new Map<string, SharedQuery>();
  const queue = (
    name: string,
    shared: SharedQuery,
    deploymentId: number,
    run: (call: Call) => Promise<unknown>,
  ) => {
    const close = () => open.get(name) === shared && open.delete(name);
    open.set(name, shared);
    shared.signal.addEventListener('abort', close);
    const turn = async () => {
      close();
      const startedAt = clock.monotonic();
      const answered = await shared.run(run);
      // Executions have the processor for as long: queries that follow each other, and their answers, slow them down otherwise.
      await clock.sleep(Math.min((clock.monotonic() - startedAt) * answered, MAX_REST_MS));
    };
    slots.run(String(deploymentId), shared.signal, turn).catch(() => undefined);
  };
  return async <T>(
    { deployment, atSeq, question }: Asked,
    call: Call,
    query: (db: Db, work: QueryWork) => Promise<T>,
  ) => {
    if (atSeq !== undefined) await computedTo(context, deployment.id, atSeq, call.signal);
    call.signal.throwIfAborted();
    if (open.size >= MAX_WAITING) throw new ServiceError('overloaded');
    const name = JSON.stringify([deployment.id, question]);
    const run = ({ signal, deadline }: Call) => {
      const read = () => withinTime(() => query(pools.queries.db, new QueryWork(clock, signal)));
      return atSeq === undefined ? read() : readPast(context, deployment, atSeq, { signal, deadline }, read);
    };
    const waiting = open.get(name);
    const shared = waiting ?? new SharedQuery();
    // The first caller, too, before it begins, which may be at once.
    const answer = shared.join(call);
    if (waiting === undefined) queue(name, shared, deployment.id, run);
    return (await answer) as T;
  };
}

/** One query that several callers wait for. */
class SharedQuery {
  readonly #callers = new Set<Call>();
  readonly #answer = Promise.withResolvers<unknown>();
  readonly #left = new AbortController();
  #hasBegun = false;

  constructor() {
    // Nobody may be left to hear of a failure.
    this.#answer.promise.catch(() => undefined);
  }

  /** Aborts once all callers have left. */
  get signal(): AbortSignal {
    return this.#left.signal;
  }

  /** Never rejects: callers hear of it. @returns how many there were */
  async run(query: (call: Call) => Promise<unknown>): Promise<number> {
    this.#hasBegun = true;
    const { size } = this.#callers;
    const deadline = Math.max(...Array.from(this.#callers, (call) => call.deadline));
    await query({ signal: this.signal, deadline }).then(this.#answer.resolve, this.#answer.reject);
    return size;
  }

  /** @throws `overloaded` when it has not begun for too long; the reason of the caller's signal when that aborts */
  async join(call: Call): Promise<unknown> {
    const late = new AbortController();
    const timeout = setTimeout(() => {
      if (!this.#hasBegun) late.abort(new ServiceError('overloaded'));
    }, MAX_WAIT_MS);
    this.#callers.add(call);
    try {
      return await orAborted(this.#answer.promise, AbortSignal.any([call.signal, late.signal]));
    } finally {
      clearTimeout(timeout);
      this.#callers.delete(call);
      if (this.#callers.size === 0) this.#left.abort();
    }
  }
}
