import { type Bus, isUnreached } from '@orrery/bus';
import {
  type CallContext,
  type JsonValue,
  type OwnedRpcName,
  runtimeContract,
  ServiceError,
} from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import { readOwners } from './lease-store.js';
import { type HeldPartitions, NotOwner } from './partitions.js';

/** A call that only the owner of the deployment answers. */
export interface OwnedCall<Request, Reply> {
  readonly name: OwnedRpcName;
  readonly partition: number;
  readonly request: Request;
  /** Answers here, or throws NotOwner. */
  readonly here: (request: Request, context: CallContext) => Promise<Reply>;
}

export interface RouterDependencies {
  readonly db: Db;
  readonly bus: Bus;
  readonly instance: string;
  readonly held: HeldPartitions;
  readonly clock: Clock;
}

/** While a partition changes hands: the pause before its owner is looked up again, in milliseconds. */
const RETRY_MS = 50;

export type RouteToOwner = <Request, Reply>(
  call: OwnedCall<Request, Reply>,
  context: CallContext,
) => Promise<Reply>;

/**
 * Answers a call here when this process owns the deployment, else forwards it to the process that does. When that
 * process answers that it is not the owner, or is gone before it took the call, the owner is looked up again, until the
 * call's deadline.
 */
export function createRouter(dependencies: RouterDependencies): RouteToOwner {
  const { db, held, clock, instance } = dependencies;
  const owners = createOwnerDirectory(db, clock);
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
      owners.invalidate();
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
    if (isUnreached(error)) return { answered: false };
    throw error;
  }
}

function refuseLate({ deadline, signal }: CallContext, clock: Clock): void {
  if (signal.aborted || clock.monotonic() >= deadline) throw new ServiceError('deadline_exceeded');
}

/** Which process owns a partition, as last read. */
interface OwnerDirectory {
  /** `undefined`: no process at the moment. */
  ownerOf(partition: number): Promise<string | undefined>;
  /** The last read has proved wrong: the next lookup reads again. */
  invalidate(): void;
}

/** How long a read counts as current, in milliseconds. */
const MAX_AGE_MS = 2000;

/** Lookups at the same time share one read. */
function createOwnerDirectory(db: Db, clock: Clock): OwnerDirectory {
  let reading: Promise<Map<number, string>> | undefined;
  let owners = new Map<number, string>();
  let readAt = Number.NEGATIVE_INFINITY;

  const read = async () => {
    owners = await readOwners(db);
    readAt = clock.monotonic();
    return owners;
  };
  const fresh = () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    ownerOf: async (partition) => {
      const known = clock.monotonic() - readAt < MAX_AGE_MS ? owners.get(partition) : undefined;
      return known ?? (await fresh()).get(partition);
    },
    invalidate: () => {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}
