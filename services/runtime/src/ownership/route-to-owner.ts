import type { Bus } from '@orrery/bus';
import { type CallContext, type JsonValue, runtimeContract, ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { HeldPartitions } from './held-partitions.js';
import { NotOwner } from './not-owner.js';
import type { OwnerDirectory } from './owner-directory.js';

/** An RPC that only the owner of the deployment answers. */
export interface OwnedCall<Request, Reply> {
  readonly name: string;
  readonly partition: number;
  readonly request: Request;
  /** Answers here, or throws NotOwner. */
  readonly here: (request: Request, context: CallContext) => Promise<Reply>;
}

export interface RouterDependencies {
  readonly bus: Bus;
  readonly instance: string;
  readonly held: HeldPartitions;
  readonly owners: OwnerDirectory;
  readonly clock: Clock;
}

/** While a partition changes hands: the pause before its owner is looked up again, in milliseconds. */
const RETRY_MS = 50;

export type RouteToOwner = <Request, Reply>(
  call: OwnedCall<Request, Reply>,
  context: CallContext,
) => Promise<Reply>;

/**
 * Answers a call here when this process owns the deployment, else passes it to the one that does; when that one says
 * it is not the owner, or is gone before it took the call, the owner is looked up anew until the call's deadline.
 */
export function createRouter(dependencies: RouterDependencies): RouteToOwner {
  const { held, owners, clock, instance } = dependencies;
  return async (call, context) => {
    for (;;) {
      if (held.epochOf(call.partition) !== undefined) {
        try {
          return await call.here(call.request, context);
        } catch (error) {
          if (!(error instanceof NotOwner)) throw error;
        }
      }
      const owner = await owners.ownerOf(call.partition);
      if (owner !== undefined && owner !== instance) {
        const outcome = await forward(dependencies, owner, call, context);
        if (outcome.answered) return outcome.reply;
      }
      owners.doubt();
      refuseLate(context, clock);
      await clock.sleep(RETRY_MS, context.signal);
    }
  };
}

type Outcome<Reply> = { answered: true; reply: Reply } | { answered: false };

async function forward<Request, Reply>(
  { bus }: RouterDependencies,
  owner: string,
  { name, request }: OwnedCall<Request, Reply>,
  context: CallContext,
): Promise<Outcome<Reply>> {
  const rpc = runtimeContract.rpcs['owner.forward'];
  try {
    const body = { name, request: request as JsonValue };
    const answer = await bus.call(rpc, body, { ...context, instance: owner });
    // The owner's handler made it for this RPC, and the bus checks it on the way out.
    return answer.kind === 'answered'
      ? { answered: true, reply: answer.reply as Reply }
      : { answered: false };
  } catch (error) {
    if (isNobodyThere(error)) return { answered: false };
    throw error;
  }
}

/** Nobody took the call, so nothing happened; any other `unavailable` may have been carried out. */
const isNobodyThere = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'unavailable' && error.facts.reached === false;

function refuseLate({ deadline, signal }: CallContext, clock: Clock): void {
  if (signal.aborted || clock.now() >= deadline) throw new ServiceError('deadline_exceeded');
}
