import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import { ServiceError } from '@orrery/contracts';
import { startDeadline, unanswered } from '../in-flight/in-flight.js';
import type { Frame } from '../ports/transport.js';
import { MAX_CALL_BYTES } from '../wire/wire-format.js';
import type { Connection } from './connection.js';
import { fromMessageHeaders, toMessageHeaders } from './headers.js';
import type { Arrival, Inbox } from './inbox.js';

/** `<bytes> <address>`: the body is not in this message; the receiver pulls it part by part from the address. */
const OFFER_HEADER = 'orrery-parts';
/** Room that a part leaves for headers, in bytes. */
const OVERHEAD = 16 * 1024;
/** How long an offered body waits to be pulled, in milliseconds. */
const OFFER_TTL_MS = 30_000;

/** A frame on its way out. */
interface Outgoing extends Disposable {
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs;
  /** Resolves when the last part was pulled or the offer has expired; at once for a body in one piece. */
  readonly taken: Promise<void>;
}

export interface Parts {
  /** Dispose it when its parts are no longer needed. */
  pack(frame: Frame): Outgoing;
  /** A frame that came in a pack is returned at once. @throws ServiceError when the parts do not come. */
  unpack(arrival: Arrival, timeoutMs: number, signal?: AbortSignal): Frame | Promise<Frame>;
}

const NOTHING = new Uint8Array();
const AT_ONCE = Promise.resolve();

/**
 * NATS refuses messages above the server's `max_payload`. A larger body stays at its sender. The receiver gets an address
 * and pulls one part after the other from it. So all parts of a request reach the one process of the queue group that got
 * the announcement, and no part is sent before the receiver requests it. See docs/adr/0013-the-nats-wire-format.md.
 */
export function createParts(connection: Connection, inbox: Inbox): Parts {
  const partSize = () => {
    const most = connection.nats.info?.max_payload ?? 1024 * 1024;
    return most - Math.min(OVERHEAD, most / 2);
  };

  const pack: Parts['pack'] = ({ headers, body }) => {
    const data = Buffer.from(body);
    const size = partSize();
    if (data.length <= size)
      return { data, ...headersOf(headers), taken: AT_ONCE, [Symbol.dispose]: () => undefined };
    return offer(data, headers, size);
  };

  const offer = (data: Buffer, headers: Frame['headers'], size: number): Outgoing => {
    const { promise: taken, resolve: onTaken } = Promise.withResolvers<void>();
    const address = inbox.open((pull) => {
      if ('body' in pull) return;
      const from = Number(pull.string());
      pull.respond(data.subarray(from, from + size));
      if (from + size >= data.length) onTaken();
    });
    const expiry = startDeadline(OFFER_TTL_MS, onTaken);
    const announcement = { ...headers, [OFFER_HEADER]: `${data.length} ${address.subject}` };
    return {
      data: NOTHING,
      headers: toMessageHeaders(announcement),
      taken,
      [Symbol.dispose]: () => {
        clearTimeout(expiry);
        address[Symbol.dispose]();
      },
    };
  };

  const unpack: Parts['unpack'] = (arrival, timeoutMs, signal) =>
    'body' in arrival ? arrival : readMessage(arrival, timeoutMs, signal);

  const readMessage = async (
    arrival: Msg,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Frame> => {
    const { [OFFER_HEADER]: offered, ...headers } = fromMessageHeaders(arrival.headers);
    if (offered === undefined) return { headers, body: arrival.string() };
    const [bytes = '', address = ''] = offered.split(' ');
    const total = Number(bytes);
    if (!(total <= MAX_CALL_BYTES)) throw new ServiceError('body_too_large');
    return { headers, body: (await pull(address, total, timeoutMs, signal)).toString() };
  };

  const pull = async (address: string, total: number, timeoutMs: number, signal: AbortSignal | undefined) => {
    const whole = Buffer.allocUnsafe(total);
    for (let length = 0; length < total; ) {
      const data = Buffer.from(String(length));
      const part = (await inbox.request(address, { data }, { timeoutMs, signal })).data;
      if (part.length === 0 || length + part.length > total)
        throw unanswered('A part of the message is missing.');
      whole.set(part, length);
      length += part.length;
    }
    return whole;
  };

  return { pack, unpack };
}

const headersOf = (headers: Frame['headers']): Pick<Outgoing, 'headers'> => {
  for (const _ in headers) return { headers: toMessageHeaders(headers) };
  return {};
};
