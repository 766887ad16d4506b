import type { CallContext, ReplyOf, RequestOf, runtimeContract } from '@orrery/contracts';
import { answerInTime, type Clock } from '@orrery/service-kit';
import type { RuntimeContext } from '../context.js';

type Published = (typeof runtimeContract.rpcs)['deployments.published'];
type AskHome = (home: string, request: RequestOf<Published>) => Promise<ReplyOf<Published>>;
type Context = Pick<RuntimeContext, 'homes' | 'clock'>;

/**
 * Where published deployments of all databases are, each place answered for itself: those of a database that is away or slow
 * are named as unasked, and keep no other waiting.
 */
export async function publishedByPlace(
  { homes, clock }: Context,
  { deployments }: RequestOf<Published>,
  withinMs: number,
  ask: AskHome,
): Promise<ReplyOf<Published>> {
  const known = await eachInTime(clock, withinMs / 4, deployments, (one) => homes.homeOf(one));
  const groups = Map.groupBy(known.keys(), (place) => known.get(place) ?? homes.id);
  const reached = [...groups].filter(([home]) => !homes.isAway(home));
  const found = new Map<number, Found>();
  await eachInTime(clock, (withinMs * 3) / 4, reached, async ([home, places]) => {
    const asked = places.map((place) => deployments[place] ?? '');
    // It is to answer before it is waited for no longer.
    const answer = await ask(home, { deployments: asked, withinMs: Math.ceil(withinMs / 2) });
    for (const [place, one] of answersOf(answer)) found.set(places[place] ?? 0, one);
  });
  return replyOf(deployments, found);
}

/** What work with each of these comes to, by place: of those where it succeeds within a time. */
export async function eachInTime<T, R>(
  clock: Clock,
  withinMs: number,
  all: readonly T[],
  work: (one: T, place: number) => Promise<R>,
): Promise<ReadonlyMap<number, R>> {
  const results = new Map<number, R>();
  const ended = async () => {
    await Promise.allSettled(all.map(async (one, place) => results.set(place, await work(one, place))));
  };
  const over = () => undefined;
  await answerInTime(ended, { clock, timeoutMs: withinMs, late: over, failed: over });
  return new Map(results);
}

type Found = ReplyOf<Published>['deployments'][number];

export function replyOf(
  deployments: readonly string[],
  found: ReadonlyMap<number, Found>,
): ReplyOf<Published> {
  const unasked = [...deployments.keys()].filter((place) => !found.has(place));
  return {
    deployments: deployments.map((_, place) => found.get(place) ?? null),
    ...(unasked.length > 0 && { unasked }),
  };
}

/** What was answered, by place. */
function answersOf({ deployments, unasked }: ReplyOf<Published>): [number, Found][] {
  const left = new Set(unasked);
  return [...deployments.entries()].filter(([place]) => !left.has(place));
}

/** A call that waits no longer than this. */
export const within = (clock: Clock, ms: number, call: CallContext): CallContext => ({
  ...call,
  deadline: Math.min(call.deadline, clock.monotonic() + ms),
});
