import { type Bus, serviceCall } from '@orrery/bus';
import {
  type JournalHead,
  journalHeads,
  lifecycleChanged,
  runtimeContract,
  ServiceError,
  webhooksChanged,
} from '@orrery/contracts';
import { readHeads } from '@orrery/service-host';
import { type Clock, type Logger, startPollLoop } from '@orrery/service-kit';
import type { Db } from '../store/tables/schema.js';
import { markBehind, markDue } from '../store/webhooks/claimed-webhooks.js';
import { deleteWebhooksOf, deploymentsWithWebhooks } from '../store/webhooks/webhook-store.js';

export interface FollowDeploymentsOptions {
  readonly db: Db;
  readonly bus: Pick<Bus, 'call' | 'listen'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pollMs: number;
  /** Webhooks have become due. */
  readonly onDue: () => void;
  readonly signal: AbortSignal;
}

export interface FollowedDeployments {
  /** Webhooks of these deployments were made here. */
  add(deployments: readonly string[]): void;
  /** The last entry of a journal as far as this process has heard, 0 where it has not. */
  heard(deployment: string): number;
  ended(): Promise<void>;
}

const SERVICE = 'chain-pusher';
const CALL_TIMEOUT_MS = 10_000;
/** Heads of deployments with webhooks that are remembered. */
const MAX_HEARD = 50_000;
/** How often all lifecycles that changed are compared, in runs of the poll. */
const LIFECYCLES_EVERY = 12;

/**
 * Makes webhooks due whose journals have grown, and removes those of deleted deployments. Executions elsewhere cost nothing
 * but a look into the set of deployments that have any. Broadcasts tell at once; one that is lost is made good by comparing
 * the positions with the heads of the journals.
 */
export async function followDeployments(options: FollowDeploymentsOptions): Promise<FollowedDeployments> {
  const { db, bus, clock, logger, pollMs, onDue, signal } = options;
  let known: ReadonlySet<string> = await deploymentsWithWebhooks(db);
  const made = new Set<string>();
  const heard = new Map<string, number>();
  const grown = new Set<string>();
  const isKnown = (deployment: string) => known.has(deployment) || made.has(deployment);

  const marking = startPollLoop({
    name: 'webhooks of grown journals',
    intervalMs: 60_000,
    clock,
    logger,
    signal,
    runOnce: async () => {
      const deployments = [...grown];
      grown.clear();
      if (deployments.length === 0) return 'idle';
      await markDue(db, deployments);
      onDue();
      return grown.size > 0 ? 'more' : 'idle';
    },
  });
  const onHeads = (heads: readonly (readonly [string, number])[]) => {
    for (const [deployment, seq] of heads) {
      if (!isKnown(deployment)) continue;
      if (heard.size >= MAX_HEARD) heard.clear();
      heard.set(deployment, seq);
      grown.add(deployment);
    }
    if (grown.size > 0) marking.wake();
  };
  const removeDeleted = async (deployments: readonly string[], during: AbortSignal) => {
    for (const deployment of deployments)
      if (await isDeleted(options, deployment, during)) await deleteWebhooksOf(db, [deployment]);
  };

  const ended = new Set<string>();
  const removing = startPollLoop({
    name: 'webhooks of deleted deployments',
    intervalMs: 60_000,
    clock,
    logger,
    signal,
    runOnce: async (during) => {
      const deployments = [...ended];
      await removeDeleted(deployments, during);
      for (const one of deployments) ended.delete(one);
      return 'idle';
    },
  });
  const compare = createComparison(options, isKnown, async (deployments) => {
    for (const one of deployments) ended.add(one);
    removing.wake();
  });
  let hearing: AbortController | undefined;
  /** Each commit broadcasts heads: where there are no webhooks, they are not even read. */
  const hearWhereNeeded = async () => {
    const isNeeded = known.size + made.size > 0;
    if (isNeeded === (hearing !== undefined) || signal.aborted) return;
    hearing?.abort();
    hearing = isNeeded ? new AbortController() : undefined;
    if (hearing === undefined) return;
    const until = AbortSignal.any([signal, hearing.signal]);
    await bus
      .listen(journalHeads, ({ heads }) => onHeads(heads), until)
      .catch((error: unknown) => {
        hearing = undefined;
        throw error;
      });
  };
  const polling = startPollLoop({
    name: 'journals of webhooks',
    intervalMs: pollMs,
    clock,
    logger,
    signal,
    runOnce: async (during) => {
      made.clear();
      known = await deploymentsWithWebhooks(db);
      await hearWhereNeeded();
      if (known.size > 0) await compare(during);
      return 'idle';
    },
  });
  await bus.listen(
    lifecycleChanged,
    ({ deployments }) => {
      for (const one of deployments) if (isKnown(one)) ended.add(one);
      if (ended.size > 0) removing.wake();
    },
    signal,
  );
  const add = (deployments: readonly string[]) => {
    for (const one of deployments) made.add(one);
    onDue();
    // The next comparison tries again.
    hearWhereNeeded().catch(() => undefined);
  };
  await bus.listen(webhooksChanged, ({ deployments }) => add(deployments), signal);
  return {
    add,
    heard: (deployment) => heard.get(deployment) ?? 0,
    ended: async () => {
      await Promise.all([marking.stop(), removing.stop(), polling.stop()]);
    },
  };
}

/** One comparison with the heads of journals, and now and then with the lifecycles of deployments. */
function createComparison(
  { db, bus, clock, logger, onDue }: FollowDeploymentsOptions,
  isKnown: (deployment: string) => boolean,
  onLifecycles: (deployments: readonly string[]) => Promise<void>,
) {
  let changedSince: string | null = null;
  let livedSince: string | null = null;
  let run = 0;
  const shared = { service: SERVICE, bus, clock };
  return async (signal: AbortSignal): Promise<void> => {
    try {
      const behind = async (heads: readonly JournalHead[]) => {
        const ours = heads.filter(({ deployment }) => isKnown(deployment));
        if (ours.length > 0 && (await markBehind(db, ours)) > 0) onDue();
      };
      changedSince = await readHeads({ ...shared, take: behind }, changedSince, signal);
      if (run++ % LIFECYCLES_EVERY !== 0) return;
      const lived = async (heads: readonly { deployment: string }[]) =>
        onLifecycles(heads.map(({ deployment }) => deployment).filter(isKnown));
      livedSince = await readHeads({ ...shared, of: 'lifecycle', take: lived }, livedSince, signal);
    } catch (error) {
      // A runtime that restarts: the next run compares again.
      if (!(error instanceof ServiceError && error.code === 'unavailable')) throw error;
      logger.debug('the runtime does not answer about journals');
    }
  };
}

async function isDeleted(
  { bus, clock }: Pick<FollowDeploymentsOptions, 'bus' | 'clock'>,
  deployment: string,
  signal: AbortSignal,
): Promise<boolean> {
  const request = { deployment, after: Number.MAX_SAFE_INTEGER };
  const call = serviceCall(SERVICE, clock, CALL_TIMEOUT_MS, signal);
  return bus.call(runtimeContract.rpcs['lifecycle.read'], request, call).then(
    (found) => found.isDeleted,
    (error: unknown) => {
      if (error instanceof ServiceError && error.code === 'deployment_not_found') return true;
      throw error;
    },
  );
}
