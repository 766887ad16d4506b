import type {
  Caller,
  Contract,
  Handlers,
  JsonText,
  Message,
  NamedRpc,
  PayloadOf,
  ReplyOf,
  Rpc,
  ServiceError,
} from '@orrery/contracts';
import type { z } from 'zod';

/** What a call carries beside its request. A handler's `CallContext` has all of it: pass it on. */
export interface CallOptions {
  caller: Caller;
  requestId: string;
  /** A UUID of the client's request, by which a run of it is found again when its process was lost. */
  callId?: string | undefined;
  /** The caller does not wait for a run that an execution becomes. Processes of earlier releases take no notice. */
  leavesRun?: boolean | undefined;
  /** The id of the database that a runtime process passes the call on to. */
  home?: string | undefined;
  /**
   * After it the caller waits no longer; in ms, by the monotonic clock of this process. The remaining time is what travels, so
   * clocks may differ.
   */
  deadline: number;
  /** Gives the call up; the handler's own signal is then aborted, best effort. */
  signal?: AbortSignal;
  /** Only the process that serves as this instance may answer. */
  instance?: string;
}

export interface ServeOptions {
  /** This process's own name (letters, digits, `_`, `-`), by which it can be called alone; random by default. */
  instance?: string;
  /**
   * Calls to this process that it has not answered are given up when it has been silent for this long, in milliseconds.
   * Default 6,000. Only processes on NATS can fall silent apart from their callers.
   */
  ttlMs?: number;
}

export interface PublishOptions {
  /**
   * A message with the id of an earlier one of its kind is stored once. Over NATS an id is remembered for 15 seconds at
   * least, within one process the last 10,000 of a kind.
   */
  id: string;
  /**
   * Messages with the same key are handled one after the other in the order of publication. One that is tried again may
   * come after later ones, and so it is after a crash, and with several processes of one consumer.
   */
  orderingKey?: string;
}

/** One of many messages of a kind that are published together. */
export interface Publication<M extends Message> extends PublishOptions {
  /** Of a text only the size is checked here; each consumer checks what it gets. */
  payload: z.input<M['payload']> | JsonText;
  /** The trace with which it travels (`traceparent`). Default: the active one. */
  trace?: string | undefined;
}

export interface ConsumeOptions<M extends Message> {
  /** Durable name; its processes share the messages, and it goes on where it stopped. */
  consumer: string;
  /**
   * Effects must bear repetition: a message comes at least once. Throwing means: again, after a growing pause. After ten
   * tries, and where it breaks its schema, the message is a dead letter: it is logged and left out.
   */
  handle: (payload: PayloadOf<M>) => Promise<void>;
  /** Ends the consumption; messages in work are finished. */
  signal: AbortSignal;
}

export interface BusHealth {
  ok: boolean;
  /** Fit to be shown to anyone. */
  detail?: string;
}

/**
 * How services communicate. All failures are `ServiceError`s.
 *
 * Requests and replies may have 32 MiB of JSON, messages 960 KiB (`body_too_large` beyond), on every adapter.
 */
export interface Bus {
  /**
   * Answers the contract's RPCs, sharing them with the other processes of the service. A handler that throws
   * is answered too: a `ServiceError` as it is, anything else as `internal` with its cause logged here.
   */
  serve<R extends Record<string, Rpc>>(
    contract: Contract<R>,
    handlers: Handlers<R>,
    options?: ServeOptions,
  ): Promise<void>;
  /**
   * @throws ServiceError what the handler threw; `deadline_exceeded`; `unavailable`: with the fact `reached: false` when no
   * process has taken the call (a named one that has fallen silent is not sent any), with `outcome: 'unknown'` when it was
   * sent and no answer can come: its process has fallen silent or stopped, or the connection was lost.
   */
  call<R extends NamedRpc>(rpc: R, request: z.input<R['request']>, options: CallOptions): Promise<ReplyOf<R>>;
  /** The reply of a call as the JSON that came, for a caller that passes it on. @throws as `call` */
  callForText<R extends NamedRpc>(
    rpc: R,
    request: z.input<R['request']>,
    options: CallOptions,
  ): Promise<JsonText>;
  /** Resolves when the message is stored. @throws ServiceError `unavailable` after some seconds of trying. */
  publish<M extends Message>(
    message: M,
    payload: z.input<M['payload']>,
    options: PublishOptions,
  ): Promise<void>;
  /**
   * Publishes many messages at a fraction of the cost. Those with the same key are stored in this order. All that follow
   * one that failed, of its key, count as failed too: publish them again, in their order. Over NATS some of these may be
   * stored already, before the one that failed; their repetition is recognized by its id. So a consumer that depends on
   * the order compares sequence numbers of its own. Never rejects. Resolves with one outcome for each message, in the
   * order given: the error that `publish` would throw, or undefined once the message is stored.
   */
  publishAll<M extends Message>(
    message: M,
    publications: readonly Publication<M>[],
  ): Promise<(ServiceError | undefined)[]>;
  /** Resolves when deliveries begin. They end when the signal aborts or the bus closes. */
  consume<M extends Message>(message: M, options: ConsumeOptions<M>): Promise<void>;
  /** Sends to every current listener; at most once, not stored. */
  broadcast<M extends Message>(message: M, payload: z.input<M['payload']>): Promise<void>;
  /** Resolves when deliveries begin. */
  listen<M extends Message>(
    message: M,
    handle: (payload: PayloadOf<M>) => void,
    signal: AbortSignal,
  ): Promise<void>;
  health(): Promise<BusHealth>;
  /**
   * Accepts no more work, waits for running work (4 s at most, then aborts its signal), and disconnects. Repeated calls
   * share one closing.
   */
  close(): Promise<void>;
}
