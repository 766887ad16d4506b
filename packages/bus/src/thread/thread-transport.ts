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
import type { Answer, Exchange, Fact, FactLog, Frame, Serving, Transport } from '../ports/transport.js';
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
  /** Ends the `listen` of this id. */
  end: Procedure<{ id: number }, void>;
  leave: Procedure<undefined, void>;
};

/** What the host requests of the guest. */
type GuestProcedures = {
  answer: Procedure<{ subject: string; frame: PackedFrame }, PackedFrame>;
  receive: Procedure<{ id: number; frame: PackedFrame }, void>;
};

/** The guest's receivers of broadcasts, by the ids that it has chosen. */
type Listeners = Map<number, (frame: Frame) => void>;

/**
 * The guest's end of a transport that `lendTransport` serves at the other end of the port. It stores messages, and consumes
 * none.
 */
export function joinThread(port: MessagePort, logger: Logger): Transport {
  const listeners: Listeners = new Map();
  const running = new RunningCalls();
  const responder = createResponder(running);
  const host: Link<HostProcedures> = createLink<GuestProcedures, HostProcedures>({
    port,
    logger,
    procedures: {
      answer: responder.answer,
      receive: ({ id, frame }) => listeners.get(id)?.(unpackFrame(frame)),
    },
  });
  return {
    exchange: guestExchange(host, responder, listeners),
    facts: guestLog(host),
    health: () => (host.isOpen ? { ok: true } : { ok: false, detail: 'The thread of the bus is gone.' }),
    close: async () => {
      await within(CLOSE_GRACE_MS, host.call('leave', undefined));
      running.abortAll();
      await within(LAST_WORDS_MS, running.untilIdle());
      host.close();
    },
  };
}

function guestExchange(host: Link<HostProcedures>, responder: Responder, listeners: Listeners): Exchange {
  let lastId = 0;
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
    listen: async (subject, receive, signal) => {
      const id = ++lastId;
      listeners.set(id, receive);
      await host.call('listen', { id, subject });
      const end = () => {
        listeners.delete(id);
        host.call('end', { id }).catch(() => undefined);
      };
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    },
  };
}

const guestLog = (host: Link<HostProcedures>): FactLog => ({
  append: async (subject, facts) => {
    try {
      const outcomes = await host.call('append', { subject, facts });
      return outcomes.map((error) => error && fromErrorReply(error));
    } catch (error) {
      return facts.map(() => asServiceError(error));
    }
  },
  read: () => Promise.reject(new Error('a service in a thread of its own consumes no messages')),
});

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

/** The host's end: lends the transport to another thread. It closes when the guest leaves or its thread ends. */
export function lendTransport(transport: Transport, port: MessagePort, logger: Logger): void {
  const listening = new Map<number, AbortController>();
  const { exchange, facts } = transport;
  const procedures: Implementations<HostProcedures> = {
    request: ([subject, group, timeoutMs, frame], signal) =>
      exchange.request(subject, unpackFrame(frame), { group, timeoutMs, signal }).then(packFrame),
    respond: ({ group, subjects, serving }) => {
      const answers = new Map(subjects.map((subject) => [subject, answerOf(guest, subject)]));
      return exchange.respond(group, answers, serving);
    },
    broadcast: ({ subject, frame }) => exchange.broadcast(subject, unpackFrame(frame)),
    listen: ({ id, subject }) => {
      const ending = new AbortController();
      listening.set(id, ending);
      // A guest that is gone is no failure of the broadcast.
      const pass = (frame: Frame) =>
        void guest.call('receive', { id, frame: packFrame(frame) }).catch(() => undefined);
      return exchange.listen(subject, pass, ending.signal);
    },
    append: async ({ subject, facts: given }) =>
      (await facts.append(subject, given)).map((error) => error && toErrorReply(error)),
    end: ({ id }) => {
      listening.get(id)?.abort();
      listening.delete(id);
    },
    leave: () => transport.close(),
  };
  const guest: Link<GuestProcedures> = createLink<HostProcedures, GuestProcedures>({
    port,
    procedures,
    logger,
  });
  port.once('close', () => {
    for (const controller of listening.values()) controller.abort();
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
