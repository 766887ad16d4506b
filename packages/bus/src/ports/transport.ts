import type { ServiceError } from '@orrery/contracts';

/** Text with headers. An adapter carries it and does not read it. Names are in lower case. */
export interface Frame {
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

/** Answers a request and never rejects. `call` is aborted by the adapter when the caller gave up. */
export type Answer = (request: Frame, call: AbortController) => Promise<Frame>;

export interface RequestOptions {
  /** The serving service: it shares the subject's requests among its processes. */
  readonly group: string;
  /** The process that the subject belongs to; `undefined`: any of the group may answer. */
  readonly instance?: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A process that answers, for adapters whose processes may die apart from their callers. */
export interface Serving {
  readonly instance: string;
  /** The process counts as gone when it has been silent for this long, in milliseconds. */
  readonly ttlMs: number;
}

/** Requests and broadcasts: nothing of them is stored. */
export interface Exchange {
  /** @throws ServiceError `unavailable`, `deadline_exceeded`, or the signal's reason. */
  request(subject: string, frame: Frame, options: RequestOptions): Promise<Frame>;
  /** Answers each subject's requests, also under the process's own name; resolves when they begin to come. */
  respond(group: string, answers: ReadonlyMap<string, Answer>, serving: Serving): Promise<void>;
  broadcast(subject: string, frame: Frame): Promise<void>;
  listen(subject: string, receive: (frame: Frame) => void, signal: AbortSignal): Promise<void>;
}

/** A message that is kept until its consumers have handled it. */
export interface Fact extends Frame {
  readonly id: string;
  readonly key: string | undefined;
}

export interface FactDelivery extends Fact {
  /** 1 for the first; a lower bound after a crash of the consumer. */
  readonly tries: number;
  /** Neither this nor `sendBack` fails. If the log could not store it, the fact is delivered again. */
  done(): void;
  /** Deliver it again after this time, as the next try. */
  sendBack(delayMs: number): void;
}

export interface ReadOptions {
  readonly consumer: string;
  /** A bounded number are under way (`MAX_IN_FLIGHT`). Never rejects; ends with `done` or `sendBack`. */
  readonly receive: (delivery: FactDelivery) => Promise<void>;
  readonly signal: AbortSignal;
}

export type AppendOutcome = ServiceError | undefined;

/** Stored messages. */
export interface FactLog {
  /**
   * Stores facts: those with the same key in this order. All after one of its key that was not stored count as not stored
   * either. Never rejects: it answers for each with why it was not stored, or undefined.
   */
  append(subject: string, facts: readonly Fact[]): Promise<AppendOutcome[]>;
  read(subject: string, options: ReadOptions): Promise<void>;
}

/** The port that each adapter implements; the typed bus is built on it once. */
export interface Transport {
  readonly exchange: Exchange;
  readonly facts: FactLog;
  health(): { ok: boolean; detail?: string };
  close(): Promise<void>;
}
