import { isUnreached, noResponders, unanswered, unsent } from '../in-flight/in-flight.js';
import type { Exchange, Frame, RequestOptions } from '../ports/transport.js';
import { cancelSubject, instanceSubject } from '../wire/wire-format.js';
import type { Connection } from './connection.js';
import { toMessageHeaders } from './headers.js';
import { type Conversation, type Inbox, isNoResponders } from './inbox.js';
import type { LiveInstance, LiveInstances } from './live-instances.js';
import { createPacker, PACK_HEADER, PACKED_AT_MOST, type Packed, type Packer, writePack } from './packs.js';
import type { Parts } from './parts.js';

/** A request on its way; its id is its reply subject. */
interface SentRequest extends Packed {
  readonly fail: (error: unknown) => void;
  isSent: boolean;
  /** Its answer has come, or the caller no longer waits. */
  isSettled: boolean;
  /** Called when it is settled, if it was sent in a pack. */
  onSettled: (() => void) | undefined;
}

/** Sends a request to a subject; `to` is the process that the subject belongs to, if it is known. */
type Send = (
  subject: string,
  frame: Frame,
  options: RequestOptions,
  to: LiveInstance | undefined,
) => Promise<Frame>;

/**
 * The requesting end. A request that any process of the group may answer goes to one that is heard, or to the next when
 * that one is gone; without any that is heard, to the queue group.
 */
export function createRequests(connection: Connection, inbox: Inbox, parts: Parts, live: LiveInstances) {
  const { send, flush } = createSend(connection, inbox, parts, live);
  const toAny: Exchange['request'] = (subject, frame, options) => {
    const chosen = live.choose(options.group);
    if (chosen === undefined) return send(subject, frame, options, undefined);
    return send(instanceSubject(subject, chosen.name), frame, options, chosen).catch((error: unknown) => {
      // Without a connection there is no next one.
      if (!isUnreached(error) || !connection.up) throw error;
      live.unreachable(chosen);
      return toAny(subject, frame, options);
    });
  };
  const toNamed = (subject: string, frame: Frame, options: RequestOptions, name: string) => {
    const to = live.named(options.group, name);
    if (live.isSilent(to)) return Promise.reject(noResponders());
    return send(subject, frame, options, to);
  };
  return {
    flush,
    request: (subject: string, frame: Frame, options: RequestOptions): Promise<Frame> =>
      options.instance === undefined
        ? toAny(subject, frame, options)
        : toNamed(subject, frame, options, options.instance),
  };
}

/** The requests of one turn of the event loop to one subject travel in one pack. */
function createSend(
  connection: Connection,
  inbox: Inbox,
  parts: Parts,
  live: LiveInstances,
): { send: Send; flush: () => void } {
  const packer = createRequestPacker(connection, inbox);
  /** Its process has answered: when the parts of a large answer cannot be had, it has been reached. */
  const unpacked = async (...answer: Parameters<Parts['unpack']>) => {
    try {
      return await parts.unpack(...answer);
    } catch (error) {
      throw isUnreached(error) ? unanswered('A part of the answer cannot be had.', error) : error;
    }
  };
  const awaitReply = async (
    { group, timeoutMs, signal }: RequestOptions,
    to: LiveInstance | undefined,
    { send, giveUp, end }: Conversation & { readonly end: () => void },
  ): Promise<Frame> => {
    const sentAt = performance.now();
    let watched: number | undefined;
    const sendWatched: Conversation['send'] = (id, fail) => {
      if (to !== undefined)
        watched = live.watch(to, (reason) => {
          // If it was only stopped, it need not carry out later what the caller has given up.
          cancel(group, id);
          fail(reason);
        });
      send(id, fail);
    };
    try {
      const arrival = await inbox.converse({ send: sendWatched, giveUp }, { timeoutMs, signal });
      return await unpacked(arrival, timeoutMs - (performance.now() - sentAt), signal);
    } finally {
      end();
      if (watched !== undefined) to?.requests.take(watched);
    }
  };
  const inPack: Send = (subject, { headers, body }, options, to) => {
    let sent: SentRequest | undefined;
    const end = () => sent && settle(sent);
    return awaitReply(options, to, {
      send: (id, fail) => {
        sent = { id, headers, body, fail, isSent: false, isSettled: false, onSettled: undefined };
        packer.add(subject, sent, body.length);
      },
      giveUp: (address) => {
        end();
        if (sent?.isSent !== false) cancel(options.group, address);
      },
      end,
    });
  };
  const inParts: Send = async (subject, frame, options, to) => {
    const outgoing = parts.pack(frame);
    const headers = outgoing.headers && { headers: outgoing.headers };
    return awaitReply(options, to, {
      send: (id) =>
        connection.nats.publish(connection.named(subject), outgoing.data, { reply: id, ...headers }),
      giveUp: (address) => cancel(options.group, address),
      end: () => outgoing[Symbol.dispose](),
    });
  };
  const cancel = (group: string, address: string) => {
    if (connection.up) connection.nats.publish(connection.named(cancelSubject(group)), address);
  };
  const send: Send = (subject, frame, options, to) =>
    (frame.body.length > PACKED_AT_MOST ? inParts : inPack)(subject, frame, options, to);
  return { send, flush: packer.flush };
}

function settle(request: SentRequest): void {
  request.isSettled = true;
  request.onSettled?.();
}

function createRequestPacker({ nats, named, requireUp }: Connection, inbox: Inbox): Packer<SentRequest> {
  const alone = (subject: string, { id, headers, body }: SentRequest) =>
    nats.publish(named(subject), Buffer.from(body), { reply: id, headers: toMessageHeaders(headers) });
  const together = (subject: string, requests: readonly SentRequest[]) => {
    const waiting = new Set(requests);
    const address = inbox.open((arrival) => {
      if (isNoResponders(arrival)) for (const { fail } of waiting) fail(noResponders());
    });
    for (const one of requests) {
      one.onSettled = () => {
        waiting.delete(one);
        if (waiting.size === 0) address[Symbol.dispose]();
      };
    }
    nats.publish(named(subject), Buffer.from(writePack(requests)), {
      reply: address.subject,
      headers: PACK_HEADER,
    });
  };
  return createPacker((subject, all) => {
    // A request that was given up in the same turn is not sent at all.
    const requests = all.filter(({ isSettled }) => !isSettled);
    const [first, ...others] = requests;
    if (first === undefined) return;
    for (const one of requests) one.isSent = true;
    try {
      requireUp();
      if (others.length === 0) alone(subject, first);
      else together(subject, requests);
    } catch {
      for (const { fail } of requests) fail(unsent());
    }
  });
}
