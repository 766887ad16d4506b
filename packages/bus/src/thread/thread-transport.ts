import type { MessagePort } from 'node:worker_threads';
import {
  asServiceError,
  type ErrorReply,
  fromErrorReply,
  ServiceError,
  toErrorReply,
} from '@orrery/contracts';
import {
  createLink,
  type Implementations,
  type Link,
  type Logger,
  type Procedure,
} from '@orrery/service-kit';
import {
  awaitAnswer,
  CLOSE_GRACE_MS,
  isLate,
  LAST_WORDS_MS,
  RunningCalls,
  within,
} from '../in-flight/in-flight.js';
import type {
  Answer,
  Exchange,
  Fact,
  FactDelivery,
  FactLog,
  Frame,
  ReadOptions,
  Serving,
  Transport,
} from '../ports/transport.js';
import { errorFrame } from '../wire/wire-format.js';

// A transport that one thread (the host) lends to another (the guest): what they say to each other, the guest's end
// (`joinThread`) and the host's end (`lendTransport`).

/**
 * A frame on its way through a port: the body, then the headers' names and values. A flat array of strings is cloned in
 * half the time of objects, because the names of an object's members travel with each object.
 */
type PackedFrame = readonly string[];

export function packFrame({ headers, body }: Frame): PackedFrame {
  const packed = [body];
  for (const name in headers) packed.push(name, headers[name] ?? '');
  return packed;
}

export function unpackFrame(packed: PackedFrame): Frame {
  const headers: Record<string, string> = {};
  for (let at = 1; at < packed.length; at += 2) headers[packed[at] ?? ''] = packed[at + 1] ?? '';
  return { headers, body: packed[0] ?? '' };
}

/** What the guest requests of the host. The guest chooses the ids. */
type HostProcedures = {
  request: Procedure<
    readonly [subject: string, group: string, timeoutMs: number, frame: PackedFrame],
    PackedFrame
  >;
  respond: Procedure<{ group: string; subjects: readonly string[]; serving: Serving }, void>;
  broadcast: Procedure<{ subject: string; frame: PackedFrame }, void>;
  listen: Procedure<{ id: number; subject: string }, void>;
  append: Procedure<{ subject: string; facts: readonly Fact[] }, (ErrorReply | undefined)[]>;
  read: Procedure<{ id: number; subject: string; consumer: string }, void>;
  /** Ends the `listen` or `read` of this id. */
  end: Procedure<{ id: number }, void>;
  leave: Procedure<undefined, void>;
};

/** What the host requests of the guest. */
type GuestProcedures = {
  answer: Procedure<{ subject: string; frame: PackedFrame }, PackedFrame>;
  receive: Procedure<{ id: number; frame: PackedFrame }, void>;
  handle: Procedure<{ id: number; fact: SentFact }, FactOutcome>;
};

/** A fact on its way to a reader in the guest. */
type SentFact = Omit<FactDelivery, 'done' | 'sendBack'>;

/** How the reader ended with it. */
type FactOutcome = { readonly backInMs: number | undefined };

/** Deliver it again at once: the guest no longer reads. */
const NOT_HANDLED: FactOutcome = { backInMs: 0 };

/** The guest's end of a transport that `lendTransport` serves at the other end of the port. */
export function joinThread(port: MessagePort, logger: Logger): Transport {
  let last = 0;
  const nextId = () => ++last;
  const end = (id: number) => void host.call('end', { id }).catch(() => undefined);
  const listeners = new Subscriptions<(frame: Frame) => void>(nextId, end);
  const readers = new Subscriptions<ReadOptions['receive']>(nextId, end);
  const running = new RunningCalls();
  const responder = createResponder(running);
  const host: Link<HostProcedures> = createLink<GuestProcedures, HostProcedures>({
    port,
    logger,
    procedures: {
      answer: responder.answer,
      receive: ({ id, frame }) => listeners.get(id)?.(unpackFrame(frame)),
      handle: ({ id, fact }) => handleFact(fact, readers.get(id)),
    },
  });
  return {
    exchange: guestExchange(host, responder, listeners),
    facts: guestLog(host, readers),
    health: () => (host.isOpen ? { ok: true } : { ok: false, detail: 'The thread of the bus is gone.' }),
    close: async () => {
      await within(CLOSE_GRACE_MS, host.call('leave', undefined));
      running.abortAll();
      await within(LAST_WORDS_MS, running.untilIdle());
      host.close();
    },
  };
}

function guestExchange(
  host: Link<HostProcedures>,
  responder: Responder,
  listeners: Subscriptions<(frame: Frame) => void>,
): Exchange {
  return {
    request: (subject, frame, { group, timeoutMs, signal }) => {
      let giveUp: (() => void) | undefined;
      return awaitAnswer<Frame>(
        { timeoutMs, signal },
        (settle) => {
          giveUp = host.begin('request', [subject, group, timeoutMs, packFrame(frame)], {
            resolve: (reply) => settle.resolve(unpackFrame(reply)),
            reject: settle.reject,
          });
        },
        // The host keeps the deadline by itself.
        (reason) => void (isLate(reason) || giveUp?.()),
      );
    },
    respond: (group, answers, serving) => {
      responder.serve(answers);
      return host.call('respond', { group, subjects: [...answers.keys()], serving });
    },
    broadcast: (subject, frame) => host.call('broadcast', { subject, frame: packFrame(frame) }),
    listen: (subject, receive, signal) =>
      listeners.begin(receive, signal, (id) => host.call('listen', { id, subject })),
  };
}

const guestLog = (host: Link<HostProcedures>, readers: Subscriptions<ReadOptions['receive']>): FactLog => ({
  append: async (subject, facts) => {
    try {
      const outcomes = await host.call('append', { subject, facts });
      return outcomes.map((error) => error && fromErrorReply(error));
    } catch (error) {
      return facts.map(() => asServiceError(error));
    }
  },
  read: (subject, { consumer, receive, signal }) =>
    readers.begin(receive, signal, (id) => host.call('read', { id, subject, consumer })),
});

/** The guest's receivers at the host, each under an id, until a signal ends them. */
class Subscriptions<Receive> {
  readonly #receivers = new Map<number, Receive>();

  /** One host's subscriptions share `nextId`. `end` ends one at the host. */
  constructor(
    private readonly nextId: () => number,
    private readonly end: (id: number) => void,
  ) {}

  get(id: number): Receive | undefined {
    return this.#receivers.get(id);
  }

  /** `start` sends the new id to the host. */
  async begin(receive: Receive, signal: AbortSignal, start: (id: number) => Promise<void>): Promise<void> {
    const id = this.nextId();
    this.#receivers.set(id, receive);
    await start(id);
    const stop = () => {
      this.#receivers.delete(id);
      this.end(id);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  }
}

/** The answers of the guest's service to the requests that the host passes on. */
type Responder = ReturnType<typeof createResponder>;

function createResponder(running: RunningCalls) {
  const answers = new Map<string, Answer>();
  let calls = 0;
  return {
    serve: (added: ReadonlyMap<string, Answer>) => {
      for (const [subject, answer] of added) answers.set(subject, answer);
    },
    answer: async (
      { subject, frame }: { readonly subject: string; readonly frame: PackedFrame },
      caller: AbortSignal,
    ): Promise<PackedFrame> => {
      const answer = answers.get(subject);
      if (answer === undefined) throw new Error(`this thread does not serve ${subject}`);
      const id = String(++calls);
      const call = running.start(id);
      caller.addEventListener('abort', () => call.abort(caller.reason), { once: true });
      try {
        return packFrame(await answer(unpackFrame(frame), call));
      } finally {
        running.end(id);
      }
    },
  };
}

/** Passes a fact to its reader in the guest, and resolves with how it ended. */
function handleFact(fact: SentFact, receive: ReadOptions['receive'] | undefined): Promise<FactOutcome> {
  if (receive === undefined) return Promise.resolve(NOT_HANDLED);
  return new Promise((resolve) => {
    const delivery: FactDelivery = {
      ...fact,
      done: () => resolve({ backInMs: undefined }),
      sendBack: (backInMs) => resolve({ backInMs }),
    };
    void receive(delivery);
  });
}

/** The host's end: lends the transport to another thread. It closes when the guest leaves or its thread ends. */
export function lendTransport(transport: Transport, port: MessagePort, logger: Logger): void {
  const begun = new Map<number, AbortController>();
  const begin = (id: number): AbortSignal => {
    const controller = new AbortController();
    begun.set(id, controller);
    return controller.signal;
  };
  const { exchange, facts } = transport;
  const procedures: Implementations<HostProcedures> = {
    request: ([subject, group, timeoutMs, frame], signal) =>
      exchange.request(subject, unpackFrame(frame), { group, timeoutMs, signal }).then(packFrame),
    respond: ({ group, subjects, serving }) => {
      const answers = new Map(subjects.map((subject) => [subject, answerOf(guest, subject)]));
      return exchange.respond(group, answers, serving);
    },
    broadcast: ({ subject, frame }) => exchange.broadcast(subject, unpackFrame(frame)),
    listen: ({ id, subject }) =>
      exchange.listen(
        subject,
        // A guest that is gone is no failure of the broadcast.
        (frame) => void guest.call('receive', { id, frame: packFrame(frame) }).catch(() => undefined),
        begin(id),
      ),
    append: async ({ subject, facts: given }) =>
      (await facts.append(subject, given)).map((error) => error && toErrorReply(error)),
    read: ({ id, subject, consumer }) =>
      facts.read(subject, { consumer, signal: begin(id), receive: (one) => deliver(guest, id, one) }),
    end: ({ id }) => {
      begun.get(id)?.abort();
      begun.delete(id);
    },
    leave: () => transport.close(),
  };
  const guest: Link<GuestProcedures> = createLink<HostProcedures, GuestProcedures>({
    port,
    procedures,
    logger,
  });
  port.once('close', () => {
    for (const controller of begun.values()) controller.abort();
    void transport.close();
  });
}

/** The guest answers the subject's requests. */
const answerOf =
  (guest: Link<GuestProcedures>, subject: string): Answer =>
  (frame, { signal }) =>
    new Promise<Frame>((resolve) => {
      const giveUp = guest.begin(
        'answer',
        { subject, frame: packFrame(frame) },
        {
          resolve: (reply) => resolve(unpackFrame(reply)),
          reject: (error) => resolve(errorFrame(error)),
        },
      );
      signal.addEventListener('abort', () => {
        // The guest keeps the deadline by itself.
        if (!(signal.reason instanceof ServiceError && isLate(signal.reason))) giveUp();
      });
    });

async function deliver(guest: Link<GuestProcedures>, id: number, delivery: FactDelivery): Promise<void> {
  const { done, sendBack, ...fact } = delivery;
  const { backInMs } = await guest.call('handle', { id, fact }).catch(() => NOT_HANDLED);
  if (backInMs === undefined) done();
  else sendBack(backInMs);
}
