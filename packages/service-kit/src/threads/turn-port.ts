import type { MessagePort } from 'node:worker_threads';

/** So many need not wait for the end of the turn: the other thread begins with them while this one is still at it. */
const MANY = 16;

/** Sends an item through a port: its kind, the id it belongs to, and up to two things more, by kind. */
export type Send<Kind extends string> = (kind: Kind, id: number, first: unknown, second: unknown) => void;

/** The members of each item. */
const LENGTH = 4;

/**
 * What is sent within a turn of the event loop travels as one message: waking the other thread costs as much as
 * carrying a dozen items. Their members stand in one row, since an object around each would double the cost of cloning
 * it. An item that cannot be cloned is the program's mistake, and an error that nobody catches.
 */
export function sendByTurns<Kind extends string>(port: MessagePort): Send<Kind> {
  let collected: unknown[] = [];
  let isTurnOpen = false;
  const flush = () => {
    const members = collected;
    collected = [];
    if (members.length > 0) port.postMessage(members);
  };
  return (kind, id, first, second) => {
    collected.push(kind, id, first, second);
    if (collected.length === MANY * LENGTH) queueMicrotask(flush);
    if (isTurnOpen) return;
    isTurnOpen = true;
    setImmediate(() => {
      isTurnOpen = false;
      flush();
    });
  };
}

/** Takes the items that come through a port. */
export function takeItems<Kind extends string>(port: MessagePort, take: Send<Kind>): void {
  port.on('message', (members: readonly unknown[]) => {
    for (let at = 0; at < members.length; at += LENGTH)
      // Both ends are built from the same types.
      take(members[at] as Kind, members[at + 1] as number, members[at + 2], members[at + 3]);
  });
}
