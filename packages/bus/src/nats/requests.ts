import { nobody } from '../calls/nobody.js';
import { cancelSubject } from '../subjects.js';
import type { Exchange } from '../transport.js';
import { type Connection, unavailable } from './connection.js';
import { type Inbox, isNobody } from './inbox.js';
import { toMessageHeaders } from './message-headers.js';
import { PACK_HEADER, PACKED_AT_MOST, type Packed, writePack } from './pack-text.js';
import { createPacker, type Packer } from './packer.js';
import type { Parts } from './parts.js';

/** A request on its way; its id is its reply subject. */
interface Asked extends Packed {
  readonly fail: (error: unknown) => void;
  isSent: boolean;
  /** Its answer has come or is no longer waited for. */
  isSettled: boolean;
  /** Called then, once it is on its way with others. */
  onSettled: (() => void) | undefined;
}

export interface Requests {
  readonly request: Exchange['request'];
  readonly flush: () => void;
}

/** The asking half: what one turn of the event loop asks of one subject travels together. */
export function createRequests(connection: Connection, inbox: Inbox, parts: Parts): Requests {
  const packer = createRequestPacker(connection, inbox);
  const inPack: Exchange['request'] = async (subject, frame, { group, timeoutMs, signal }) => {
    const { headers, body } = frame;
    const askedAt = performance.now();
    let asked: Asked | undefined;
    const send = (id: string, fail: Asked['fail']) => {
      asked = { id, headers, body, fail, isSent: false, isSettled: false, onSettled: undefined };
      packer.add(subject, asked, body.length);
    };
    const giveUp = (address: string) => {
      if (asked !== undefined) settle(asked);
      if (asked?.isSent !== false) cancel(group, address);
    };
    try {
      const arrival = await inbox.converse({ send, giveUp }, { timeoutMs, signal });
      return await parts.unpack(arrival, timeoutMs - (performance.now() - askedAt), signal);
    } finally {
      if (asked !== undefined) settle(asked);
    }
  };
  const inParts: Exchange['request'] = async (subject, frame, { group, timeoutMs, signal }) => {
    const askedAt = performance.now();
    using parcel = parts.pack(frame);
    const headers = parcel.headers && { headers: parcel.headers };
    const send = (id: string) => connection.nats.publish(subject, parcel.data, { reply: id, ...headers });
    const giveUp = (address: string) => cancel(group, address);
    const arrival = await inbox.converse({ send, giveUp }, { timeoutMs, signal });
    return await parts.unpack(arrival, timeoutMs - (performance.now() - askedAt), signal);
  };
  const cancel = (group: string, address: string) => {
    if (connection.up) connection.nats.publish(cancelSubject(group), address);
  };
  const request: Exchange['request'] = (subject, frame, options) =>
    (frame.body.length > PACKED_AT_MOST ? inParts : inPack)(subject, frame, options);
  return { request, flush: packer.flush };
}

function settle(asked: Asked): void {
  asked.isSettled = true;
  asked.onSettled?.();
}

function createRequestPacker({ nats, requireUp }: Connection, inbox: Inbox): Packer<Asked> {
  const alone = (subject: string, { id, headers, body }: Asked) =>
    nats.publish(subject, Buffer.from(body), { reply: id, headers: toMessageHeaders(headers) });
  const together = (subject: string, asked: readonly Asked[]) => {
    const waiting = new Set(asked);
    const address = inbox.open((arrival) => {
      if (isNobody(arrival)) for (const { fail } of waiting) fail(nobody());
    });
    for (const one of asked) {
      one.onSettled = () => {
        waiting.delete(one);
        if (waiting.size === 0) address[Symbol.dispose]();
      };
    }
    nats.publish(subject, Buffer.from(writePack(asked)), { reply: address.subject, headers: PACK_HEADER });
  };
  return createPacker((subject, all) => {
    // Who was given up in the same turn is not asked for at all.
    const asked = all.filter(({ isSettled }) => !isSettled);
    const [first, ...others] = asked;
    if (first === undefined) return;
    for (const one of asked) one.isSent = true;
    try {
      requireUp();
      if (others.length === 0) alone(subject, first);
      else together(subject, asked);
    } catch {
      for (const { fail } of asked) fail(unavailable());
    }
  });
}
