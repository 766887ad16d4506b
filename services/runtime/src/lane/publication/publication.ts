import type { Bus } from '@orrery/bus';
import {
  type JournalFact,
  JsonText,
  journalEntry,
  journalHeads,
  LIFECYCLE_KINDS,
  lifecycleChanged,
  occurrencesEnded,
  type PushPlan,
} from '@orrery/contracts';
import { type Database, type OutboxMessage, type OutboxRow, startRelay } from '@orrery/database';
import { type Clock, createMeter, type Logger, NamedSlots } from '@orrery/service-kit';
import { type SealedEntry, stateChangesOf } from '../../core/entries/entry.js';
import type { Batch } from '../../store/commit/batch.js';
import { type Facts, loadFacts } from '../../store/journal/journal-store.js';
import type { HeldPartitions, Lease } from '../../store/leases/leases.js';
import type { RuntimeSchema } from '../../store/tables/schema.js';

type CommittedBatch = Pick<Batch, 'onceKeys' | 'entries' | 'deployments'>;

interface PublicationDependencies {
  readonly database: Database<RuntimeSchema>;
  readonly bus: Pick<Bus, 'broadcast' | 'publishAll'>;
  /** The partitions that this process holds. Its relay publishes their entries, the relays of others do not. */
  readonly shards: () => readonly number[] | 'all';
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Under load facts are published together, at most this many milliseconds after their commits. */
const RELAY_REST_MS = 40;

/** Publishes the entries of the journal as facts, and broadcasts how far journals go. */
export function startPublication({ database, bus, shards, clock, logger }: PublicationDependencies) {
  const recent = createRecentEntries();
  const traces = new Map<string, string>();
  const traced = {
    take: (id: string) => {
      const found = recent.take(id);
      if (found?.trace !== undefined) traces.set(id, found.trace);
      return found;
    },
  };
  const published = createMeter('runtime').createCounter('orrery_runtime_facts_published', {
    description: 'Journal entries that this process published',
  });
  const relay = startRelay({
    database,
    load: (rows) => recentFacts(traced, rows, (others) => loadFacts(database.db, others)),
    publish: async (messages) => {
      const outcomes = await bus.publishAll(
        journalEntry,
        messages.map((message) => messageOf(message, traces.get(message.messageId))),
      );
      // What is published again after a failure has none: a trace is no promise.
      for (const { messageId } of messages) traces.delete(messageId);
      published.add(outcomes.filter((error) => error === undefined).length);
      return outcomes;
    },
    shards,
    restMs: RELAY_REST_MS,
    clock,
    logger,
  });
  return {
    /** Publishes the entries of a batch that is known to be committed. */
    committed: (batch: CommittedBatch): void => {
      recent.add(batch);
      relay.wake();
      broadcastHeads(bus, batch);
      broadcastOccurrences(bus, batch);
    },
    /** Publishes the first entry of a deployment that is known to be committed. */
    created: (deployment: string): void => {
      relay.wake();
      broadcastLifecycle(bus, [deployment]);
    },
    stop: () => relay.stop(),
  };
}

/** The outbox of the runtime refers to entries only, so every payload is the text of a fact. */
const messageOf = ({ payload, messageId, orderingKey }: OutboxMessage, trace: string | undefined) => ({
  payload: payload as JournalFact | JsonText,
  id: messageId,
  orderingKey,
  trace,
});

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

/**
 * The payloads of outbox rows, by row id, as the relay's `load` answers them. `load` reads the entries that are not in
 * memory from the journal: an earlier owner committed them, or this process did before its start or too long ago.
 */
export async function recentFacts(
  recent: Pick<ReturnType<typeof createRecentEntries>, 'take'>,
  rows: readonly OutboxRow[],
  load: (rows: readonly OutboxRow[]) => Promise<Facts>,
): Promise<Facts> {
  const facts = new Map<number, JsonText>();
  const others: OutboxRow[] = [];
  for (const row of rows) {
    const found = recent.take(row.messageId);
    if (found === undefined) others.push(row);
    else facts.set(row.id, factText(found.entry, found.worldAddress, found.pushes));
  }
  if (others.length > 0) for (const [id, fact] of await load(others)) facts.set(id, fact);
  return facts;
}

/** A fact as JSON, from the sealed entry: it reuses the text that was hashed. Serializing again takes three times as long. */
const factText = (entry: SealedEntry, worldAddress: string, pushes: PushPlan | null): JsonText =>
  new JsonText(
    `${entry.text.slice(0, -1)},"hash":"${entry.hash}","inputHash":"${entry.inputHash}"` +
      `,"worldAddress":"${worldAddress}","stateChanges":${JSON.stringify(stateChangesOf(entry.changes))}` +
      `,"binding":${JSON.stringify(pushes)}}`,
  );

interface RecentEntry {
  readonly entry: SealedEntry;
  readonly worldAddress: string;
  readonly pushes: PushPlan | null;
  readonly trace?: string | undefined;
}

export interface RecentLimits {
  readonly maxEntries: number;
  /** Bytes that all of them take, roughly. */
  readonly maxBytes: number;
}

const LIMITS: RecentLimits = { maxEntries: 4000, maxBytes: 16 * 1024 * 1024 };

/** Rough memory of an entry: a fixed part, and its text several times (whole, in its members, and in their texts). */
const FIXED_BYTES = 1000;
const BYTES_PER_CHARACTER = 4;

/**
 * Entries that this process committed and its relay has not requested yet, by entry id. Ids are unique, and
 * only committed entries are added, so the entry found by an id is the one in the journal.
 *
 * Bounded: entries that another process's relay publishes, or that this one read from the database before the commit's
 * answer came, are never taken from here, so the oldest are dropped.
 */
export function createRecentEntries({ maxEntries, maxBytes }: RecentLimits = LIMITS) {
  const known = new NamedSlots<string, RecentEntry>();
  let bytes = 0;
  const take = (id: string): RecentEntry | undefined => {
    const found = known.take(id);
    if (found === undefined) return undefined;
    bytes -= roughBytes(found);
    return found;
  };
  const dropOldest = () => {
    for (const id of known.names()) {
      if (known.size <= maxEntries && bytes <= maxBytes) return;
      take(id);
    }
  };
  return {
    /** Returns an entry and removes it. If the relay needs it again, it reads the database. */
    take,
    /** Adds the entries of a batch that is known to be committed. */
    add: ({ entries, deployments }: CommittedBatch): void => {
      for (const { deploymentId, entry, effects, trace } of entries) {
        const worldAddress = deployments.get(deploymentId)?.row.world_address;
        if (worldAddress === undefined) continue;
        const recent = { entry, worldAddress, pushes: effects.pushes ?? null, trace };
        known.set(entry.id, recent);
        bytes += roughBytes(recent);
      }
      dropOldest();
    },
  };
}

const roughBytes = ({ entry }: RecentEntry): number => FIXED_BYTES + BYTES_PER_CHARACTER * entry.text.length;

/** What follows a commit. */
export function createAfterCommit({
  publication,
  held,
  wakeLeases,
}: {
  readonly publication: Pick<ReturnType<typeof startPublication>, 'committed'>;
  readonly held: Pick<HeldPartitions, 'dropLost'>;
  readonly wakeLeases: () => void;
}) {
  const meter = createMeter('runtime');
  const entries = meter.createCounter('orrery_runtime_entries', { description: 'Journal entries committed' });
  const batches = meter.createHistogram('orrery_runtime_batch_entries', {
    description: 'Journal entries that shared a commit',
  });
  const leasesLost = meter.createCounter('orrery_runtime_leases_lost', {
    description: 'Partitions that a commit found in other hands',
  });
  return {
    onCommitted: (batch: CommittedBatch) => {
      entries.add(batch.entries.length);
      batches.record(batch.entries.length);
      publication.committed(batch);
    },
    onLost: (lost: readonly Lease[]) => {
      leasesLost.add(lost.length);
      held.dropLost(lost);
      wakeLeases();
    },
  };
}
