import { createInbox, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import { awaitAnswer, isLate, noResponders } from '../calls/in-flight.js';
import type { RequestOptions } from '../transport.js';
import { type Connection, unavailable } from './connection.js';
import { createPacker, type Packed, readPack } from './packs.js';

/** A message, or a frame that came with others in one. */
export type Arrival = Msg | Packed;

/** A subject of our own for one conversation. */
interface Address extends Disposable {
  readonly subject: string;
}

interface Outgoing {
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs;
}

interface Conversation {
  /** Sends the request; `fail` ends the waiting. */
  readonly send: (address: string, fail: (error: unknown) => void) => void;
  /** Called with the reply subject when the caller stops waiting before the deadline. */
  readonly giveUp: (address: string) => void;
}

type Patience = Pick<RequestOptions, 'timeoutMs' | 'signal'>;

/** All messages to this process alone arrive through one subscription. */
export interface Inbox {
  open(receive: (arrival: Arrival) => void): Address;
  /** One message, one answer. @throws ServiceError `unavailable` without responders or connection, `deadline_exceeded`. */
  request(subject: string, message: Outgoing, patience: Patience): Promise<Msg>;
  /** The caller sends the request by itself; the answer may come in a pack. @throws as `request`. */
  converse(conversation: Conversation, patience: Patience): Promise<Arrival>;
}

const NO_RESPONDERS = 503;
/** The last token of the subject for packs of answers. Numbers of conversations are letters and digits. */
const PACKS = '-packs';

/** The address of another conversation of the same inbox. */
export const addressIn = (address: string, id: string): string =>
  `${address.slice(0, address.lastIndexOf('.') + 1)}${id}`;

/** The subject for packs of answers to the inbox of this address. */
export const packsOf = (address: string): string => addressIn(address, PACKS);

export function openInbox(connection: Connection): Inbox {
  const { nats } = connection;
  const prefix = `${createInbox(connection.inboxPrefix)}.`;
  const receivers = new Map<string, (arrival: Arrival) => void>();
  const waiting = new Map<string, (error: unknown) => void>();
  let count = 0;

  receive(connection, prefix, receivers);
  connection.watch({ onDown: () => failAll(waiting) });

  const nextSubject = () => {
    count += 1;
    return `${prefix}${count.toString(36)}`;
  };
  const open: Inbox['open'] = (receive) => {
    const subject = nextSubject();
    receivers.set(subject, receive);
    return { subject, [Symbol.dispose]: () => receivers.delete(subject) };
  };
  // Runs once for each call, so it avoids `using`, which is compiled to several times this work.
  const converse: Inbox['converse'] = async ({ send, giveUp }, patience) => {
    connection.requireUp();
    const subject = nextSubject();
    try {
      return await awaitAnswer<Arrival>(
        patience,
        ({ resolve, reject }) => {
          receivers.set(subject, (arrival) =>
            isNoResponders(arrival) ? reject(noResponders()) : resolve(arrival),
          );
          waiting.set(subject, reject);
          send(subject, reject);
        },
        (reason) => {
          if (!isLate(reason)) giveUp(subject);
        },
      );
    } finally {
      receivers.delete(subject);
      waiting.delete(subject);
    }
  };
  /** These stay separate messages. Published together they cost one write to the socket. */
  const publications = createPacker<() => void>((_nats, turn) => {
    for (const publish of turn) publish();
  });
  const request: Inbox['request'] = (subject, { data, headers }, patience) => {
    const send = (reply: string, fail: (error: unknown) => void) => {
      const publish = () => {
        try {
          nats.publish(subject, data, { reply, ...(headers && { headers }) });
        } catch (error) {
          fail(unavailable(error));
        }
      };
      publications.add('nats', publish, data.length);
    };
    // The answer to such a message never comes in a pack.
    return converse({ send, giveUp: () => undefined }, patience) as Promise<Msg>;
  };
  return { open, request, converse };
}

function receive(
  { subscribe: subscribeTo }: Connection,
  prefix: string,
  receivers: Map<string, (arrival: Arrival) => void>,
): void {
  subscribeTo(`${prefix}*`, (message) => {
    if (message.subject !== `${prefix}${PACKS}`) return receivers.get(message.subject)?.(message);
    for (const packed of readPack(message.string())) receivers.get(`${prefix}${packed.id}`)?.(packed);
  });
}

/** An answer sent while the connection was down is lost, so the outcome of these calls is unknown. */
function failAll(waiting: Map<string, (error: unknown) => void>): void {
  for (const reject of waiting.values()) reject(unavailable());
}

/** The server itself answers when a subject has no subscribers. */
export const isNoResponders = (arrival: Arrival): boolean =>
  'data' in arrival && arrival.data.length === 0 && arrival.headers?.code === NO_RESPONDERS;
