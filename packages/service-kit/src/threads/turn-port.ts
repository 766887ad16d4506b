import type { MessagePort } from 'node:worker_threads';

/** So many need not wait for the end of the turn: the other thread begins with them while this one is still at it. */
const MANY = 16;

/** Sends through a port. @returns what takes the next item. */
export type Send<Item> = (item: Item) => void;

/**
 * What is sent within a turn of the event loop travels as one message: waking the other thread costs as much as
 * carrying a dozen items. An item that cannot be cloned is the program's mistake, and an error that nobody catches.
 */
export function sendByTurns<Item>(port: MessagePort): Send<Item> {
  let collected: Item[] = [];
  let isTurnOpen = false;
  const flush = () => {
    const items = collected;
    collected = [];
    if (items.length > 0) port.postMessage(items);
  };
  return (item) => {
    collected.push(item);
    if (collected.length === MANY) queueMicrotask(flush);
    if (isTurnOpen) return;
    isTurnOpen = true;
    setImmediate(() => {
      isTurnOpen = false;
      flush();
    });
  };
}
