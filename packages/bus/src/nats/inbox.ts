import { createInbox, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import { Slots } from '@orrery/service-kit';
import { awaitAnswer, isLate, noResponders, unanswered, unsent } from '../in-flight/in-flight.js';
import type { RequestOptions } from '../ports/transport.js';
import type { Connection } from './connection.js';
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

export interface Conversation {
  /** Sends the request; `fail` ends the waiting. */
  readonly send: (address: string, fail: (error: unknown) => void) => void;
  /** Called with the reply subject when the caller stops waiting before the deadline. */
  readonly giveUp: (address: string) => void;
}

type Waiting = Pick<RequestOptions, 'timeoutMs' | 'signal'>;

/** All messages to this process alone arrive through one subscription. */
export interface Inbox {
  open(receive: (arrival: Arrival) => void): Address;
  /** One message, one answer. @throws ServiceError `unavailable` without responders or connection, `deadline_exceeded`. */
  request(subject: string, message: Outgoing, waiting: Waiting): Promise<Msg>;
  /** The caller sends the request by itself; the answer may come in a pack. @throws as `request`. */
  converse(conversation: Conversation, waiting: Waiting): Promise<Arrival>;
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
  const receivers = new Slots<Receiver>();

  receive(connection, prefix, receivers);
  connection.watch({ onDown: () => failAll(receivers) });

  const subjectOf = (number: number) => `${prefix}${number.toString(36)}`;
  const open: Inbox['open'] = (receive) => {
    const number = receivers.add({ receive, fail: undefined });
    return { subject: subjectOf(number), [Symbol.dispose]: () => receivers.take(number) };
  };
  // Runs once for each call, so it avoids `using`, which is compiled to several times this work.
  const converse: Inbox['converse'] = async ({ send, giveUp }, waiting) => {
    connection.requireUp();
    let number: number | undefined;
    try {
      return await awaitAnswer<Arrival>(
        waiting,
        ({ resolve, reject }) => {
          const receive = (arrival: Arrival) =>
            isNoResponders(arrival) ? reject(noResponders()) : resolve(arrival);
          number = receivers.add({ receive, fail: reject });
          send(subjectOf(number), reject);
        },
        (reason) => {
          if (!isLate(reason) && number !== undefined) giveUp(subjectOf(number));
        },
      );
    } finally {
      if (number !== undefined) receivers.take(number);
    }
  };
  /** These stay separate messages. Published together they cost one write to the socket. */
  const publications = createPacker<() => void>((_nats, turn) => {
    for (const publish of turn) publish();
  });
  const request: Inbox['request'] = (subject, { data, headers }, waiting) => {
    const send = (reply: string, fail: (error: unknown) => void) => {
      const publish = () => {
        try {
          nats.publish(subject, data, { reply, ...(headers && { headers }) });
        } catch (error) {
          fail(unsent(error));
        }
      };
      publications.add('nats', publish, data.length);
    };
    // The answer to such a message never comes in a pack.
    return converse({ send, giveUp: () => undefined }, waiting) as Promise<Msg>;
  };
  return { open, request, converse };
}

/** Who waits at an address; `fail` ends the waiting, where it ends with the connection. */
interface Receiver {
  readonly receive: (arrival: Arrival) => void;
  readonly fail: ((error: unknown) => void) | undefined;
}

function receive({ subscribe: subscribeTo }: Connection, prefix: string, receivers: Slots<Receiver>): void {
  const pass = (token: string, arrival: Arrival) =>
    receivers.get(Number.parseInt(token, 36))?.receive(arrival);
  subscribeTo(`${prefix}*`, (message) => {
    const token = message.subject.slice(prefix.length);
    if (token !== PACKS) return pass(token, message);
    for (const packed of readPack(message.string())) pass(packed.id, packed);
  });
}

/** An answer sent while the connection was down is lost, so the outcome of these calls is unknown. */
function failAll(receivers: Slots<Receiver>): void {
  for (const [, { fail }] of receivers.entries())
    fail?.(unanswered('The connection to the message bus was lost.'));
}

/** The server itself answers when a subject has no subscribers. */
export const isNoResponders = (arrival: Arrival): boolean =>
  'data' in arrival && arrival.data.length === 0 && arrival.headers?.code === NO_RESPONDERS;
