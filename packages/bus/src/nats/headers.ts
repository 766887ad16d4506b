import type { JsMsg } from '@nats-io/jetstream';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import type { Fact, Frame } from '../ports/transport.js';

export function toMessageHeaders(named: Frame['headers']): MsgHdrs {
  const target = headers();
  for (const name in named) target.append(name, named[name] ?? '');
  return target;
}

export function fromMessageHeaders(source: MsgHdrs | undefined): Record<string, string> {
  const named: Record<string, string> = {};
  if (source !== undefined) for (const [name, values] of source) named[name] = values[0] ?? '';
  return named;
}

/** The server recognizes repetitions by this id. */
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
