import { noResponders } from '../calls/in-flight.js';
import type { Exchange } from '../transport.js';
import { cancelSubject } from '../wire-format.js';
import { type Connection, unavailable } from './connection.js';
import { toMessageHeaders } from './headers.js';
import { type Inbox, isNoResponders } from './inbox.js';
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

export interface Requests {
  readonly request: Exchange['request'];
  readonly flush: () => void;
}

/** The requesting end: the requests of one turn of the event loop to one subject travel in one pack. */
export function createRequests(connection: Connection, inbox: Inbox, parts: Parts): Requests {
  const packer = createRequestPacker(connection, inbox);
  const inPack: Exchange['request'] = async (subject, frame, { group, timeoutMs, signal }) => {
    const { headers, body } = frame;
    const sentAt = performance.now();
    let sent: SentRequest | undefined;
    const send = (id: string, fail: SentRequest['fail']) => {
      sent = { id, headers, body, fail, isSent: false, isSettled: false, onSettled: undefined };
      packer.add(subject, sent, body.length);
    };
    const giveUp = (address: string) => {
      if (sent !== undefined) settle(sent);
      if (sent?.isSent !== false) cancel(group, address);
    };
    try {
      const arrival = await inbox.converse({ send, giveUp }, { timeoutMs, signal });
      return await parts.unpack(arrival, timeoutMs - (performance.now() - sentAt), signal);
    } finally {
      if (sent !== undefined) settle(sent);
    }
  };
  const inParts: Exchange['request'] = async (subject, frame, { group, timeoutMs, signal }) => {
    const sentAt = performance.now();
    using parcel = parts.pack(frame);
    const headers = parcel.headers && { headers: parcel.headers };
    const send = (id: string) => connection.nats.publish(subject, parcel.data, { reply: id, ...headers });
    const giveUp = (address: string) => cancel(group, address);
    const arrival = await inbox.converse({ send, giveUp }, { timeoutMs, signal });
    return await parts.unpack(arrival, timeoutMs - (performance.now() - sentAt), signal);
  };
  const cancel = (group: string, address: string) => {
    if (connection.up) connection.nats.publish(cancelSubject(group), address);
  };
  const request: Exchange['request'] = (subject, frame, options) =>
    (frame.body.length > PACKED_AT_MOST ? inParts : inPack)(subject, frame, options);
  return { request, flush: packer.flush };
}

function settle(request: SentRequest): void {
  request.isSettled = true;
  request.onSettled?.();
}

function createRequestPacker({ nats, requireUp }: Connection, inbox: Inbox): Packer<SentRequest> {
  const alone = (subject: string, { id, headers, body }: SentRequest) =>
    nats.publish(subject, Buffer.from(body), { reply: id, headers: toMessageHeaders(headers) });
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
    nats.publish(subject, Buffer.from(writePack(requests)), { reply: address.subject, headers: PACK_HEADER });
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
      for (const { fail } of requests) fail(unavailable());
    }
  });
}
