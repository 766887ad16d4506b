import type { JsMsg } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/transport-node';
import type { Fact } from '../transport.js';
import { fromMessageHeaders, toMessageHeaders } from './message-headers.js';

/** By which the server tells repetitions. */
const MESSAGE_ID = 'Nats-Msg-Id';
const ID = 'orrery-id';
const KEY = 'orrery-key';

/** Ids and keys are any text; header values are one line without spaces around it. */
export function writeFactHeaders(subject: string, { id, key, headers }: Fact): MsgHdrs {
  const written = toMessageHeaders(headers);
  const ownId = encodeURIComponent(id);
  // The server compares ids across subjects; ours are per kind of message.
  written.set(MESSAGE_ID, `${encodeURIComponent(subject)}%20${ownId}`);
  written.set(ID, ownId);
  if (key !== undefined) written.set(KEY, encodeURIComponent(key));
  return written;
}

export function readFact(message: JsMsg): Fact {
  const { [ID]: id = '', [KEY]: key, [MESSAGE_ID]: _, ...headers } = fromMessageHeaders(message.headers);
  return {
    id: decodeURIComponent(id),
    key: key === undefined ? undefined : decodeURIComponent(key),
    headers,
    body: message.string(),
  };
}
