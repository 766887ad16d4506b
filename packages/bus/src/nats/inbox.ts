import { createInbox, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import { awaitAnswer } from '../calls/await-answer.js';
import { isLate } from '../calls/late.js';
import { nobody } from '../calls/nobody.js';
import type { RequestOptions } from '../transport.js';
import { type Connection, unavailable } from './connection.js';
import { type Packed, readPack } from './pack-text.js';
import { createPacker } from './packer.js';

/** A message, or a frame that came with others in one. */
export type Arrival = Msg | Packed;

/** A subject of our own for one conversation. */
interface Address extends Disposable {
  readonly subject: string;
}

interface Question {
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs;
}

interface Conversation {
  /** Sends the question; `fail` ends the waiting. */
  readonly send: (address: string, fail: (error: unknown) => void) => void;
  /** Told the reply subject when the answer is no longer waited for, unless the time is over. */
  readonly giveUp: (address: string) => void;
}

type Patience = Pick<RequestOptions, 'timeoutMs' | 'signal'>;

/** All that is sent to this process alone comes through one subscription. */
export interface Inbox {
  open(receive: (arrival: Arrival) => void): Address;
  /** One message for one. @throws ServiceError `unavailable` without a listener or connection, `deadline_exceeded`. */
  ask(subject: string, question: Question, patience: Patience): Promise<Msg>;
  /** However the question is sent, and though its answer comes with others. @throws as `ask`. */
  converse(conversation: Conversation, patience: Patience): Promise<Arrival>;
}

const NO_RESPONDERS = 503;
/** Where answers come together: no conversation has this number, which are letters and digits. */
const PACKS = '-packs';

/** The address of another conversation of the same inbox. */
export const addressIn = (address: string, id: string): string =>
  `${address.slice(0, address.lastIndexOf('.') + 1)}${id}`;

/** Where answers to the inbox of this address come together. */
export const packsOf = (address: string): string => addressIn(address, PACKS);

export function openInbox(connection: Connection): Inbox {
  const { nats } = connection;
  const prefix = `${createInbox()}.`;
  const receivers = new Map<string, (arrival: Arrival) => void>();
  const waiting = new Map<string, (error: unknown) => void>();
  let count = 0;

  subscribe(connection, prefix, receivers);
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
  // Once for each call: without `using`, which is compiled to several times this work.
  const converse: Inbox['converse'] = async ({ send, giveUp }, patience) => {
    connection.requireUp();
    const subject = nextSubject();
    try {
      return await awaitAnswer<Arrival>(
        patience,
        ({ resolve, reject }) => {
          receivers.set(subject, (arrival) => (isNobody(arrival) ? reject(nobody()) : resolve(arrival)));
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
  /** They stay messages of their own; handed over in one go they cost one write to the socket. */
  const questions = createPacker<() => void>((_nats, publications) => {
    for (const publish of publications) publish();
  });
  const ask: Inbox['ask'] = (subject, { data, headers }, patience) => {
    const send = (reply: string, fail: (error: unknown) => void) => {
      const publish = () => {
        try {
          nats.publish(subject, data, { reply, ...(headers && { headers }) });
        } catch (error) {
          fail(unavailable(error));
        }
      };
      questions.add('nats', publish, data.length);
    };
    // Who answers such a message answers it alone.
    return converse({ send, giveUp: () => undefined }, patience) as Promise<Msg>;
  };
  return { open, ask, converse };
}

function subscribe(
  { hear }: Connection,
  prefix: string,
  receivers: Map<string, (arrival: Arrival) => void>,
): void {
  hear(`${prefix}*`, (message) => {
    if (message.subject !== `${prefix}${PACKS}`) return receivers.get(message.subject)?.(message);
    for (const packed of readPack(message.string())) receivers.get(`${prefix}${packed.id}`)?.(packed);
  });
}

/** An answer sent while we were away is lost, so nobody can know what became of these. */
function failAll(waiting: Map<string, (error: unknown) => void>): void {
  for (const reject of waiting.values()) reject(unavailable());
}

/** The server itself answers that nobody listens. */
export const isNobody = (arrival: Arrival): boolean =>
  'data' in arrival && arrival.data.length === 0 && arrival.headers?.code === NO_RESPONDERS;
