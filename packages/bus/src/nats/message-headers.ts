import { headers, type MsgHdrs } from '@nats-io/transport-node';
import type { Frame } from '../transport.js';

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
