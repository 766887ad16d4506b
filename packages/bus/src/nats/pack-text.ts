import type { Msg } from '@nats-io/transport-node';
import type { Frame } from '../transport.js';
import { toMessageHeaders } from './message-headers.js';

/** Longer bodies travel alone, in UTF-16 units. */
export const PACKED_AT_MOST = 32 * 1024;

const PACK = 'orrery-pack';
/** Marks a message that holds several requests. */
export const PACK_HEADER = toMessageHeaders({ [PACK]: '1' });
export const isPack = ({ headers }: Msg): boolean => headers?.has(PACK) === true;

/** A frame among others in one message; `id` tells the call that it belongs to. */
export interface Packed extends Frame {
  readonly id: string;
}

type Index = [id: string, headers: Frame['headers'], length: number][];

/**
 * A line of JSON says whose bodies follow and how long each is; bodies are JSON already, and are not written twice. Of
 * an id that is an address only its end is written: the pack goes to the inbox that the rest names.
 */
export function writePack(items: readonly Packed[]): string {
  const index: Index = items.map(({ id, headers, body }) => [
    id.slice(id.lastIndexOf('.') + 1),
    headers,
    body.length,
  ]);
  return `${JSON.stringify(index)}\n${items.map(({ body }) => body).join('')}`;
}

/** @throws Error for what `writePack` has not written. */
export function readPack(text: string): Packed[] {
  const end = text.indexOf('\n');
  let from = end + 1;
  const packed = (JSON.parse(text.slice(0, end)) as Index).map(([id, headers, length]) => {
    const body = text.slice(from, from + length);
    from += length;
    return { id, headers, body };
  });
  if (from !== text.length) throw new Error('a pack is not as long as it says');
  return packed;
}
