import type { Msg } from '@nats-io/transport-node';
import type { Frame } from '../ports/transport.js';
import { toMessageHeaders } from './headers.js';

/** Longer bodies travel alone, in UTF-16 units. */
export const PACKED_AT_MOST = 32 * 1024;

const PACK = 'orrery-pack';
/** Marks a message that holds several requests. */
export const PACK_HEADER = toMessageHeaders({ [PACK]: '1' });
export const isPack = ({ headers }: Msg): boolean => headers?.has(PACK) === true;

/** A frame among others in one message; `id` names its call. */
export interface Packed extends Frame {
  readonly id: string;
}

type Index = [id: string, headers: Frame['headers'], length: number][];

/**
 * The first line is JSON: id, headers and body length of each item. The bodies follow; they are JSON already, so they are
 * not encoded again. Of an id that is an address only the last token is written, because the inbox is known.
 */
export function writePack(items: readonly Packed[]): string {
  const index: Index = items.map(({ id, headers, body }) => [
    id.slice(id.lastIndexOf('.') + 1),
    headers,
    body.length,
  ]);
  return `${JSON.stringify(index)}\n${items.map(({ body }) => body).join('')}`;
}

/** @throws Error for a text that `writePack` has not written. */
export function readPack(text: string): Packed[] {
  const end = text.indexOf('\n');
  let from = end + 1;
  const packed = (JSON.parse(text.slice(0, end)) as Index).map(([id, headers, length]) => {
    const body = text.slice(from, from + length);
    from += length;
    return { id, headers, body };
  });
  if (from !== text.length) throw new Error('a pack is not as long as its index says');
  return packed;
}

/** Collects the items that go to one subject within a turn of the event loop. */
export interface Packer<Item> {
  add(subject: string, item: Item, size: number): void;
  /** Sends the items collected so far. */
  flush(): void;
}

/** A pack of this size (UTF-16 units) is sent at once. In UTF-8 it is still far below the limit of NATS. */
const FULL = 128 * 1024;
/** And one of so many items: more save little, and would load one of several processes while others are idle. */
const MANY = 16;

/**
 * Under load a turn of the event loop brings many requests, or the answers of a whole commit. Sent as one message they
 * cost the sockets, the server and the receiver little more than one of them. A single item is sent at the end of the
 * turn. `send` must not throw, because nothing would catch it there. See docs/adr/0013-the-nats-wire-format.md.
 */
export function createPacker<Item>(send: (subject: string, items: readonly Item[]) => void): Packer<Item> {
  let packs = new Map<string, { items: Item[]; size: number }>();
  const flush = () => {
    const full = packs;
    packs = new Map();
    for (const [subject, { items }] of full) send(subject, items);
  };
  return {
    flush,
    add: (subject, item, size) => {
      const pack = packs.get(subject) ?? { items: [], size: 0 };
      if (packs.size === 0) setImmediate(flush);
      packs.set(subject, pack);
      pack.items.push(item);
      pack.size += size;
      if (pack.size < FULL && pack.items.length < MANY) return;
      packs.delete(subject);
      send(subject, pack.items);
    },
  };
}
