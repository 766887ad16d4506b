import { type JournalFact, JsonText, type PushPlan } from '@orrery/contracts';
import type { RelaySession, WaitingMessage } from '@orrery/database';
import { type SealedEntry, stateChangesOf } from '@orrery/deciding';
import { type Clock, NamedSlots } from '@orrery/service-kit';
import type { Batch } from '../../store/commit/batch.js';
import type { EntryPlace } from '../../store/journal/journal-store.js';
import type { PublishedRange, UnpublishedJournal } from '../../store/journal/published.js';

export type CommittedBatch = Pick<Batch, 'onceKeys' | 'entries' | 'deployments'>;

/** An entry on its way to the bus. */
export interface EntryMessage extends WaitingMessage, EntryPlace {
  readonly payload: JournalFact | JsonText;
  /** Of the request that caused it. What is published again after a failure has none: a trace is no promise. */
  readonly trace?: string | undefined;
}

type LoadFacts = (
  places: readonly EntryPlace[],
) => Promise<readonly (EntryPlace & { readonly fact: JournalFact })[]>;

/** Journals that are kept in memory; the others are found in the database when these are published. */
const MAX_JOURNALS = 20_000;
/** Entries that one batch reads from the journal: 64 MiB of the largest. */
const MAX_LOADED = 64;

/** How often a range may be found after a gap, until this process publishes what is in the gap. */
const MAX_GAPS = 3;

/** Entries that are published, and how often they could not be noted for want of those before them. */
interface Range {
  first: number;
  last: number;
  gaps: number;
}

type Journal = { -readonly [Member in keyof UnpublishedJournal]: UnpublishedJournal[Member] } & {
  /** When it began to wait, in milliseconds of the monotonic clock. */
  since: number;
};

/**
 * The entries that this process has to publish, by deployment: a range of its journal, and in memory the entries that it
 * committed itself a moment ago. What it has published is kept as ranges, until these are noted in the database.
 */
export class Unpublished implements RelaySession<EntryMessage> {
  readonly #journals = new Map<number, Journal>();
  readonly #published = new Map<number, Range>();
  readonly #recent: ReturnType<typeof createRecentEntries>;
  /** Whether journals were left out, for want of room. */
  hasLeftOut = false;

  constructor(
    private readonly load: LoadFacts,
    private readonly clock: Pick<Clock, 'monotonic'>,
    limits?: RecentLimits,
  ) {
    this.#recent = createRecentEntries(limits);
  }

  get hasRoom(): boolean {
    return this.#journals.size < MAX_JOURNALS / 2;
  }

  /** For how long the journal that waits longest has done so, in milliseconds. */
  get waitingMs(): number {
    const first = Math.min(...this.#journals.values().map(({ since }) => since));
    return Number.isFinite(first) ? this.clock.monotonic() - first : 0;
  }

  /** Adds the entries of a batch that is known to be committed. */
  committed({ entries, deployments }: CommittedBatch): void {
    for (const { deploymentId, entry, effects, trace } of entries) {
      const row = deployments.get(deploymentId)?.row;
      if (row === undefined) continue;
      const { address, world_address: worldAddress } = row;
      this.#committed({ deploymentId, address, worldAddress, published: entry.seq - 1, head: entry.seq });
      this.#recent.add(deploymentId, { entry, worldAddress, pushes: effects.pushes ?? null, trace });
    }
  }

  #committed(one: UnpublishedJournal): void {
    const { deploymentId, published, head } = one;
    const known = this.#journals.get(deploymentId);
    // Numbers that come again are those of entries that the database has lost.
    if ((this.#published.get(deploymentId)?.last ?? 0) > published) this.#published.delete(deploymentId);
    if (known === undefined) this.#keep(one);
    else {
      known.published = Math.min(known.published, published);
      known.head = head;
    }
  }

  /** Adds a journal as it was found in the database, where what this process has published may not be noted yet. */
  found(one: UnpublishedJournal): void {
    const { deploymentId, head } = one;
    const range = this.#published.get(deploymentId);
    const isNext = range !== undefined && range.first <= one.published + 1;
    const published = isNext ? Math.max(one.published, range.last) : one.published;
    if (!isNext) this.#published.delete(deploymentId);
    const known = this.#journals.get(deploymentId);
    if (known === undefined) {
      if (published < head) this.#keep({ ...one, published });
      return;
    }
    known.published = Math.min(known.published, published);
    known.head = Math.max(known.head, head);
  }

  #keep(one: UnpublishedJournal): void {
    if (this.#journals.size >= MAX_JOURNALS) this.hasLeftOut = true;
    else this.#journals.set(one.deploymentId, { ...one, since: this.clock.monotonic() });
  }

  async oldest(limit: number, exceptKeys: readonly string[]) {
    const { found, missing, more } = this.#choose(limit, new Set(exceptKeys));
    if (missing.length > 0) await this.#loadInto(found, missing);
    const messages = found.flatMap((one) => ('payload' in one ? one : []));
    return { messages, more };
  }

  #choose(limit: number, except: ReadonlySet<string>) {
    const found: (EntryMessage | EntryPlace)[] = [];
    const missing: EntryPlace[] = [];
    let more = false;
    for (const { deploymentId, address, published, head } of this.#journals.values()) {
      if (except.has(address)) continue;
      for (let seq = published + 1; seq <= head; seq += 1) {
        more = found.length >= limit;
        if (more) return { found, missing, more };
        const recent = this.#recent.take(deploymentId, seq);
        if (recent !== undefined) found.push({ ...messageOf(recent), deploymentId, seq });
        else if (missing.length < MAX_LOADED)
          missing.push(found[found.push({ deploymentId, seq }) - 1] as EntryPlace);
        else {
          more = true;
          break;
        }
      }
    }
    return { found, missing, more };
  }

  /** Puts entries of the journal in their places. What the journal does not have was lost: it is not waited for. */
  async #loadInto(found: (EntryMessage | EntryPlace)[], missing: readonly EntryPlace[]): Promise<void> {
    const facts = new Map(
      (await this.load(missing)).map((one) => [placeOf(one.deploymentId, one.seq), one.fact]),
    );
    for (const [index, place] of found.entries()) {
      if ('payload' in place) continue;
      const fact = facts.get(placeOf(place.deploymentId, place.seq));
      if (fact === undefined) this.#journals.delete(place.deploymentId);
      else found[index] = { ...place, orderingKey: fact.deployment, messageId: fact.id, payload: fact };
    }
  }

  async remove(messages: readonly EntryMessage[]): Promise<void> {
    for (const { deploymentId, seq } of messages) {
      const range = this.#published.get(deploymentId);
      if (range === undefined || seq !== range.last + 1)
        this.#published.set(deploymentId, { first: seq, last: seq, gaps: 0 });
      else range.last = seq;
      const journal = this.#journals.get(deploymentId);
      if (journal === undefined || seq !== journal.published + 1) continue;
      this.#journals.delete(deploymentId);
      journal.published = seq;
      journal.since = this.clock.monotonic();
      // At the end, so that others have their turn.
      if (seq < journal.head) this.#journals.set(deploymentId, journal);
    }
  }

  /** What is published and not noted yet. */
  ranges(): PublishedRange[] {
    return [...this.#published].map(([deploymentId, { first, last }]) => ({ deploymentId, first, last }));
  }

  /**
   * What became of these ranges, by the journals as they were before. One after a gap waits for who publishes what is in the
   * gap: the creator of the deployment. After a few times this process publishes it itself.
   */
  noted(ranges: readonly PublishedRange[], journals: readonly UnpublishedJournal[]): void {
    const byId = new Map(journals.map((one) => [one.deploymentId, one]));
    for (const { deploymentId, first, last } of ranges) {
      const range = this.#published.get(deploymentId);
      const journal = byId.get(deploymentId);
      if (range === undefined || journal === undefined) continue;
      const isLost = journal.head < last;
      if (journal.published < first - 1 && !isLost) {
        range.gaps += 1;
        if (range.gaps > MAX_GAPS) this.found(journal);
      } else if (isLost || range.last <= last) this.#published.delete(deploymentId);
      else range.first = last + 1;
    }
  }
}

const messageOf = ({ entry, worldAddress, pushes, trace }: RecentEntry) => ({
  orderingKey: entry.deployment,
  messageId: entry.id,
  payload: factText(entry, worldAddress, pushes),
  trace,
});

/** A fact as JSON, from the sealed entry: it reuses the text that was hashed. Serializing again takes three times as long. */
export const factText = (entry: SealedEntry, worldAddress: string, pushes: PushPlan | null): JsonText =>
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

const placeOf = (deploymentId: number, seq: number): string => `${deploymentId}/${seq}`;

/** Entries that this process committed and has not published yet. Of too many the oldest are dropped. */
function createRecentEntries({ maxEntries, maxBytes }: RecentLimits = LIMITS) {
  const known = new NamedSlots<string, RecentEntry>();
  let bytes = 0;
  const takeAt = (place: string): RecentEntry | undefined => {
    const found = known.take(place);
    if (found !== undefined) bytes -= roughBytes(found);
    return found;
  };
  return {
    /** Returns an entry and removes it. If it is needed again, it is read from the journal. */
    take: (deploymentId: number, seq: number) => takeAt(placeOf(deploymentId, seq)),
    add: (deploymentId: number, recent: RecentEntry): void => {
      takeAt(placeOf(deploymentId, recent.entry.seq));
      known.set(placeOf(deploymentId, recent.entry.seq), recent);
      bytes += roughBytes(recent);
      for (const place of known.names()) {
        if (known.size <= maxEntries && bytes <= maxBytes) return;
        takeAt(place);
      }
    },
  };
}

const roughBytes = ({ entry }: RecentEntry): number => FIXED_BYTES + BYTES_PER_CHARACTER * entry.text.length;
