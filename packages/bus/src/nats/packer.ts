/** Collects what goes to one place within a turn of the event loop. */
export interface Packer<Item> {
  add(place: string, item: Item, size: number): void;
  /** Sends what has been collected so far. */
  flush(): void;
}

/** A pack of this size goes at once: far less than NATS carries, whatever bytes the units take. */
const FULL = 128 * 1024;
/** And one of so many: beyond it little is saved, and one of several processes would get what others have time for. */
const MANY = 16;

/**
 * Under load a turn of the event loop brings many requests, or the answers of a whole commit. Sent as one message they
 * cost the sockets, the server and the receiver little more than one of them; alone, an item waits for nobody.
 * `send` must not throw: at the end of a turn nobody would catch it.
 */
export function createPacker<Item>(send: (place: string, items: readonly Item[]) => void): Packer<Item> {
  let packs = new Map<string, { items: Item[]; size: number }>();
  const flush = () => {
    const full = packs;
    packs = new Map();
    for (const [place, { items }] of full) send(place, items);
  };
  return {
    flush,
    add: (place, item, size) => {
      const pack = packs.get(place) ?? { items: [], size: 0 };
      if (packs.size === 0) setImmediate(flush);
      packs.set(place, pack);
      pack.items.push(item);
      pack.size += size;
      if (pack.size < FULL && pack.items.length < MANY) return;
      packs.delete(place);
      send(place, pack.items);
    },
  };
}
