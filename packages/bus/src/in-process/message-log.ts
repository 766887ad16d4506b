import type { Clock, Logger } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import { MAX_IN_FLIGHT, WorkSlots } from '../in-flight/in-flight.js';
import type { Fact, FactDelivery, FactLog, ReadOptions } from '../ports/transport.js';

export interface LogDependencies {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly logger: Logger;
  /** Characters of a subject's messages that are kept for the consumer that lags most. Default 32 Mi. */
  readonly maxCharacters?: number;
}

/** Ids of a subject by which a repetition is recognized. */
const KNOWN_IDS = 10_000;
/** With more messages sent back than this, a consumer begins no new ones. */
const MAX_SENT_BACK = 1000;
const MAX_CHARACTERS = 32 * 1024 * 1024;
/** Of these, what stays when there were more. */
const STAYS = 7 / 8;

/**
 * Stored messages of one process, in its memory. They end with it, as those of NATS end with its disk: a consumer finds
 * what it had not handled by comparison with the owner (docs/adr/0003).
 */
export function createMessageLog(dependencies: LogDependencies) {
  const subjects = new Map<string, SubjectLog>();
  const logOf = (subject: string): SubjectLog => {
    const log = subjects.get(subject) ?? new SubjectLog(subject, dependencies);
    subjects.set(subject, log);
    return log;
  };
  const append: FactLog['append'] = async (subject, facts) => {
    logOf(subject).append(facts);
    return facts.map(() => undefined);
  };
  return {
    append,
    /** @returns how to stop, as an abort does: waits for messages in work. */
    read: (subject: string, options: ReadOptions) => logOf(subject).read(options),
  };
}
export type MessageLog = ReturnType<typeof createMessageLog>;

/** The messages of a subject that a consumer has yet to take; all of them while it has none. */
class SubjectLog {
  /** The oldest one has the number `#first`. */
  readonly #messages: Fact[] = [];
  #first = 0;
  readonly #ids = new LRUCache<string, true>({ max: KNOWN_IDS });
  readonly #consumers = new Map<string, Consumer>();
  #characters = 0;

  constructor(
    private readonly subject: string,
    private readonly dependencies: LogDependencies,
  ) {}

  append(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (this.#ids.has(fact.id)) continue;
      this.#ids.set(fact.id, true);
      this.#messages.push(fact);
      this.#characters += fact.body.length;
    }
    for (const consumer of this.#consumers.values()) consumer.deliver();
    this.#forgetTaken();
    this.#dropOldest();
  }

  read({ consumer: name, receive, signal }: ReadOptions): () => Promise<void> {
    const after = (cursor: number) => this.#next(cursor);
    const consumer = this.#consumers.get(name) ?? new Consumer(after, this.dependencies.clock);
    this.#consumers.set(name, consumer);
    return consumer.start(receive, signal);
  }

  /** The first message with this number or a later one, and the number after it. */
  #next(number: number): { fact: Fact; after: number } | undefined {
    const at = Math.max(number, this.#first);
    const fact = this.#messages[at - this.#first];
    return fact && { fact, after: at + 1 };
  }

  #forgetTaken(): void {
    if (this.#consumers.size === 0) return;
    this.#forget(Math.min(...this.#consumers.values().map(({ cursor }) => cursor)) - this.#first);
  }

  #dropOldest(): void {
    const { maxCharacters = MAX_CHARACTERS, logger } = this.dependencies;
    if (this.#characters <= maxCharacters) return;
    let left = this.#characters;
    const count =
      this.#messages.findIndex(({ body }) => {
        left -= body.length;
        return left <= maxCharacters * STAYS;
      }) + 1;
    this.#forget(count);
    if (this.#consumers.size > 0)
      logger.warn(
        { subject: this.subject, count },
        'a consumer lags behind: messages that it has not taken are dropped',
      );
  }

  #forget(count: number): void {
    if (count <= 0) return;
    this.#first += count;
    for (const { body } of this.#messages.splice(0, count)) this.#characters -= body.length;
  }
}

/** A message and the number of its try. */
interface Try {
  readonly fact: Fact;
  readonly tries: number;
}

/** Where a consumer stands, also while nobody reads for it. */
class Consumer {
  /** The number of the next new message. */
  cursor = 0;
  readonly #slots = new WorkSlots(MAX_IN_FLIGHT);
  /** Sent back, and due again. */
  readonly #due: Try[] = [];
  /** Sent back, and not due yet. */
  #resting = 0;
  #reading: { readonly receive: ReadOptions['receive']; readonly signal: AbortSignal } | undefined;

  constructor(
    private readonly next: (number: number) => { fact: Fact; after: number } | undefined,
    private readonly clock: LogDependencies['clock'],
  ) {}

  start(receive: ReadOptions['receive'], signal: AbortSignal): () => Promise<void> {
    const stopping = new AbortController();
    this.#reading = { receive, signal: AbortSignal.any([signal, stopping.signal]) };
    this.deliver();
    return () => {
      stopping.abort();
      return this.#slots.untilEmpty();
    };
  }

  /** Takes what is due again, then what is new, as far as there is room. */
  deliver(): void {
    const reading = this.#reading;
    while (reading !== undefined && !reading.signal.aborted && this.#slots.free > 0) {
      const one = this.#due.shift() ?? this.#takeNew();
      if (one === undefined) return;
      const work = reading.receive(this.#deliveryOf(one, reading.signal));
      this.#slots.take(work);
      void work.then(() => this.deliver());
    }
  }

  #takeNew(): Try | undefined {
    if (this.#resting > MAX_SENT_BACK) return undefined;
    const found = this.next(this.cursor);
    if (found === undefined) return undefined;
    this.cursor = found.after;
    return { fact: found.fact, tries: 1 };
  }

  #deliveryOf({ fact, tries }: Try, signal: AbortSignal): FactDelivery {
    const again = () => {
      this.#resting -= 1;
      this.#due.push({ fact, tries: tries + 1 });
      this.deliver();
    };
    return {
      ...fact,
      tries,
      done: () => undefined,
      sendBack: (delayMs) => {
        this.#resting += 1;
        this.clock.sleep(delayMs, signal).then(again, again);
      },
    };
  }
}
