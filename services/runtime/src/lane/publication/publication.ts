import type { Bus } from '@orrery/bus';
import {
  journalEntry,
  journalHeads,
  LIFECYCLE_KINDS,
  lifecycleChanged,
  occurrencesEnded,
} from '@orrery/contracts';
import { startRelay } from '@orrery/database';
import { type Clock, createMeter, type Logger } from '@orrery/service-kit';
import type { Batch } from '../../store/commit/batch.js';
import { loadFacts } from '../../store/journal/journal-store.js';
import {
  clearOutbox,
  notePublished,
  unpublishedIn,
  unpublishedOf,
  unpublishedSince,
} from '../../store/journal/published.js';
import type { HeldPartitions, Lease } from '../../store/leases/leases.js';
import type { Db } from '../../store/tables/schema.js';
import { type CommittedBatch, type EntryMessage, Unpublished } from './unpublished.js';

interface PublicationDependencies {
  readonly db: Db;
  readonly bus: Pick<Bus, 'broadcast' | 'publishAll'>;
  /** The leases that this process holds: it publishes the journals of these partitions. */
  readonly leases: () => readonly Lease[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Under load entries are published together, at most this many milliseconds after their commits. */
const RELAY_REST_MS = 40;
/** How often it is noted what is published, in milliseconds. A process that dies leaves this much to be published again. */
const NOTE_MS = 2000;
/** How often journals are looked for that were left unpublished, in milliseconds. */
const SWEEP_MS = 60_000;
/** How far back a sweep looks beyond the last one that has succeeded. */
const SWEPT_MINUTES = 5;
const PAGE = 1000;

/**
 * Publishes the entries of the journal as facts, and broadcasts how far journals go. The journal is its own outbox: each
 * head says up to where it is published (docs/adr/0034).
 */
export function startPublication({ db, bus, leases, clock, logger }: PublicationDependencies) {
  const unpublished = new Unpublished((places) => loadFacts(db, places), clock);
  const search = createSearch(db, unpublished, clock);
  const meter = createMeter('runtime');
  const published = meter.createCounter('orrery_runtime_facts_published', {
    description: 'Journal entries that this process published',
  });
  meter
    .createObservableGauge('orrery_runtime_unpublished_oldest_seconds', {
      description: 'For how long the journal that waits longest has waited to be published',
    })
    .addCallback((result) => result.observe(unpublished.waitingMs / 1000));
  const relay = startRelay({
    name: 'publication of journals',
    within: async (work) => {
      await search(leases()).catch((error: unknown) =>
        logger.warn({ err: error }, 'what is published was not noted or read; it is tried again'),
      );
      return work(unpublished);
    },
    publish: async (messages: readonly EntryMessage[]) => {
      const outcomes = await bus.publishAll(journalEntry, messages.map(publicationOf));
      published.add(outcomes.filter((error) => error === undefined).length);
      return outcomes;
    },
    restMs: RELAY_REST_MS,
    clock,
    logger,
  });
  return {
    /** Publishes the entries of a batch that is known to be committed. */
    committed: (batch: CommittedBatch): void => {
      unpublished.committed(batch);
      relay.wake();
      broadcastHeads(bus, batch);
      broadcastOccurrences(bus, batch);
    },
    /** Publishes the first entry of a deployment that is known to be committed. If it fails, the owner finds the entry. */
    created: (deployment: string): void => {
      broadcastLifecycle(bus, [deployment]);
      unpublishedOf(db, deployment).then(
        (journal) => {
          if (journal === undefined) return;
          unpublished.found(journal);
          relay.wake();
        },
        (error: unknown) =>
          logger.info({ err: error, deployment }, 'a first entry was not read; its owner publishes it'),
      );
    },
    /** Looks for what earlier owners of newly held partitions have left. */
    wake: relay.wake,
    stop: async () => {
      await relay.stop();
      await note(db, unpublished);
    },
  };
}

const publicationOf = ({ payload, messageId: id, orderingKey, trace }: EntryMessage) => ({
  payload,
  id,
  orderingKey,
  trace,
});

async function note(db: Db, unpublished: Unpublished): Promise<void> {
  const ranges = unpublished.ranges();
  if (ranges.length === 0) return;
  unpublished.noted(ranges, await notePublished(db, ranges));
}

/** Notes what is published, and finds in the database what others have left, each in its time. */
function createSearch(db: Db, unpublished: Unpublished, clock: Pick<Clock, 'monotonic'>) {
  /** The epochs of the partitions whose heads were read. */
  const read = new Map<number, number>();
  let notedAt = clock.monotonic();
  let triedAt = clock.monotonic();
  /** When the last sweep began that has found all there was. */
  let sweptAt = triedAt;
  const sweep = async (leases: readonly Lease[], now: number) => {
    const partitions = leases.map(({ partition }) => partition);
    const minutes = SWEPT_MINUTES + Math.ceil((now - sweptAt) / 60_000);
    const journals = await unpublishedSince(db, partitions, minutes, PAGE);
    for (const journal of journals) unpublished.found(journal);
    if (journals.length < PAGE) sweptAt = now;
  };
  const readHeads = async (partitions: readonly number[]) => {
    for (let after = 0; ; ) {
      const page = await unpublishedIn(db, partitions, after, PAGE);
      for (const journal of page) unpublished.found(journal);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE || unpublished.hasLeftOut) return;
      after = last.deploymentId;
    }
  };
  return async (leases: readonly Lease[]): Promise<void> => {
    const now = clock.monotonic();
    const fresh = leases.filter(({ partition, epoch }) => read.get(partition) !== epoch);
    if (fresh.length > 0 || now - notedAt >= NOTE_MS) {
      notedAt = now;
      await note(db, unpublished);
    }
    if (fresh.length > 0) {
      const partitions = fresh.map(({ partition }) => partition);
      await readHeads(partitions);
      await clearOutbox(db, partitions);
      for (const { partition, epoch } of fresh) read.set(partition, epoch);
    }
    if (unpublished.hasLeftOut && unpublished.hasRoom) {
      unpublished.hasLeftOut = false;
      read.clear();
    }
    if (now - triedAt >= SWEEP_MS) {
      triedAt = now;
      await sweep(leases, now);
    }
  };
}

/** Broadcasts how far journals go. At most once: a consumer that needs certainty polls as well. */
function broadcastHeads(bus: Pick<Bus, 'broadcast'>, { entries, deployments }: CommittedBatch): void {
  if (entries.length === 0) return;
  const heads = [...deployments.values()].map(({ row, head }): [string, number] => [row.address, head.seq]);
  bus.broadcast(journalHeads, { heads }).catch(() => undefined);
  const changed = entries.filter(({ entry }) => LIFECYCLE_KINDS.has(entry.kind));
  if (changed.length > 0)
    broadcastLifecycle(
      bus,
      changed.map(({ entry }) => entry.deployment),
    );
}

/** The keys of occurrences whose runs have ended: nobody waits for a run of a schedule. */
function broadcastOccurrences(bus: Pick<Bus, 'broadcast'>, { onceKeys }: CommittedBatch): void {
  const ended = [...onceKeys.values()].filter(
    ({ scope, kind }) => scope === 'occurrence' && kind !== 'claim',
  );
  if (ended.length === 0) return;
  const occurrences = ended.map(({ key }) => key);
  bus.broadcast(occurrencesEnded, { occurrences }).catch(() => undefined);
}

function broadcastLifecycle(bus: Pick<Bus, 'broadcast'>, deployments: readonly string[]): void {
  bus.broadcast(lifecycleChanged, { deployments: [...new Set(deployments)] }).catch(() => undefined);
}

/** What follows a commit. */
export function createAfterCommit({
  publication,
  held,
  wakeLeases,
  timersChanged,
}: {
  readonly publication: Pick<ReturnType<typeof startPublication>, 'committed'>;
  readonly held: Pick<HeldPartitions, 'dropLost'>;
  readonly wakeLeases: () => void;
  readonly timersChanged: (batch: Pick<Batch, 'timers'>) => void;
}) {
  const meter = createMeter('runtime');
  const entries = meter.createCounter('orrery_runtime_entries', { description: 'Journal entries committed' });
  const batches = meter.createHistogram('orrery_runtime_batch_entries', {
    description: 'Journal entries that shared a commit',
  });
  const leasesLost = meter.createCounter('orrery_runtime_leases_lost', {
    description: 'Partitions that a commit found in other hands',
  });
  // Without a zero before, the first would be no increase.
  leasesLost.add(0);
  return {
    onCommitted: (batch: CommittedBatch & Pick<Batch, 'timers'>) => {
      entries.add(batch.entries.length);
      batches.record(batch.entries.length);
      publication.committed(batch);
      if (batch.timers.size > 0) timersChanged(batch);
    },
    onLost: (lost: readonly Lease[]) => {
      leasesLost.add(lost.length);
      held.dropLost(lost);
      wakeLeases();
    },
  };
}
