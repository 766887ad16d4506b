import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { awaitAnswer } from '../calls/await-answer.js';
import { isLate } from '../calls/late.js';
import { nobody } from '../calls/nobody.js';
import type { RequestOptions } from '../transport.js';
import { type Connection, unavailable } from './connection.js';

/** A subject of our own for one conversation. */
interface Address extends Disposable {
  readonly subject: string;
}

interface Question {
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs;
  /** Told the reply subject when the answer is no longer waited for, unless the time is over. */
  readonly giveUp?: (address: string) => void;
}

/** All that is sent to this process alone comes through one subscription. */
export interface Inbox {
  open(receive: (message: Msg) => void): Address;
  /** @throws ServiceError `unavailable` without a listener or connection, `deadline_exceeded`. */
  ask(
    subject: string,
    question: Question,
    options: Pick<RequestOptions, 'timeoutMs' | 'signal'>,
  ): Promise<Msg>;
}

const NO_RESPONDERS = 503;

export function openInbox(connection: Connection): Inbox {
  const { nats } = connection;
  const prefix = `${createInbox()}.`;
  const receivers = new Map<string, (message: Msg) => void>();
  const waiting = new Map<string, (error: unknown) => void>();
  let count = 0;

  subscribe(nats, prefix, receivers);
  connection.watch({ onDown: () => failAll(waiting) });

  const open: Inbox['open'] = (receive) => {
    count += 1;
    const subject = `${prefix}${count.toString(36)}`;
    receivers.set(subject, receive);
    return { subject, [Symbol.dispose]: () => receivers.delete(subject) };
  };
  const ask: Inbox['ask'] = async (subject, { data, headers, giveUp }, options) => {
    connection.requireUp();
    let receive: (message: Msg) => void = () => undefined;
    using address = open((message) => receive(message));
    try {
      return await awaitAnswer<Msg>(
        options,
        ({ resolve, reject }) => {
          receive = (message) => (isNobody(message) ? reject(nobody()) : resolve(message));
          waiting.set(address.subject, reject);
          nats.publish(subject, data, { reply: address.subject, ...(headers && { headers }) });
        },
        (reason) => {
          if (!isLate(reason)) giveUp?.(address.subject);
        },
      );
    } finally {
      waiting.delete(address.subject);
    }
  };
  return { open, ask };
}

function subscribe(
  nats: NatsConnection,
  prefix: string,
  receivers: Map<string, (message: Msg) => void>,
): void {
  nats.subscribe(`${prefix}*`, {
    callback: (error, message) => {
      if (error === null) receivers.get(message.subject)?.(message);
    },
  });
}

/** An answer sent while we were away is lost, so nobody can know what became of these. */
function failAll(waiting: Map<string, (error: unknown) => void>): void {
  for (const reject of waiting.values()) reject(unavailable());
}

const isNobody = (message: Msg): boolean =>
  message.data.length === 0 && message.headers?.code === NO_RESPONDERS;
