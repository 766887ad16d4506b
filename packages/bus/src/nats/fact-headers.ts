import type { JsMsg } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/transport-node';
import type { Fact } from '../transport.js';
import { fromMessageHeaders, toMessageHeaders } from './message-headers.js';

const ID = 'orrery-id';
const KEY = 'orrery-key';

/** Ids and keys are any text; header values are one line without spaces around it. */
export const writeFactHeaders = ({ id, key, headers }: Fact): MsgHdrs =>
  toMessageHeaders({
    ...headers,
    [ID]: encodeURIComponent(id),
    ...(key !== undefined && { [KEY]: encodeURIComponent(key) }),
  });

export function readFact(message: JsMsg): Fact {
  const { [ID]: id = '', [KEY]: key, ...headers } = fromMessageHeaders(message.headers);
  return {
    id: decodeURIComponent(id),
    key: key === undefined ? undefined : decodeURIComponent(key),
    headers,
    body: message.string(),
  };
}
