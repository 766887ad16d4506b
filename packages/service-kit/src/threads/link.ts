import type { MessagePort } from 'node:worker_threads';
import {
  asServiceError,
  type ErrorReply,
  fromErrorReply,
  type JsonObject,
  ServiceError,
  toErrorReply,
} from '@orrery/contracts';
import { NamedSlots, Slots } from '../concurrency/bounded-work.js';
import type { Logger } from '../logging/logger.js';

/** Arguments and result of a procedure that one thread calls in another; both are cloned. */
export interface Procedure<Args, Result> {
  readonly args: Args;
  readonly result: Result;
}

/** The procedures of one end of a link, by name. */
export type Procedures = Record<string, Procedure<unknown, unknown>>;

/** The implementations at one end. `call` aborts when the other end no longer waits. */
export type Implementations<Q> = {
  readonly [Name in keyof Q]: Q[Name] extends Procedure<infer Args, infer Result>
    ? (args: Args, call: AbortSignal) => Result | Promise<Result>
    : never;
};

export interface Settle<Result> {
  resolve(result: Result): void;
  /** What the other end threw, or `unavailable` when it is gone. */
  reject(error: ServiceError): void;
}

/** One end of a port between two threads, each of which serves the calls of the other. */
export interface Link<Theirs extends Procedures> {
  /**
   * @throws ServiceError what the other end threw, or `unavailable` when it is gone: with `reached: false` if it was gone
   * before the call, with `outcome: 'unknown'` if it may have carried it out
   */
  call<Name extends keyof Theirs & string>(
    name: Name,
    args: Theirs[Name]['args'],
  ): Promise<Theirs[Name]['result']>;
  /** The same without a promise. @returns how to cancel the call at the other end; its result still settles it. */
  begin<Name extends keyof Theirs & string>(
    name: Name,
    args: Theirs[Name]['args'],
    settle: Settle<Theirs[Name]['result']>,
  ): () => void;
  /** Whether the other end is still there. */
  readonly isOpen: boolean;
  /** Rejects the calls that wait for the other end, and all later ones. */
  close(): void;
}

/** With the name and the arguments; with the result; with the error; with nothing. */
type Kind = 'call' | 'done' | 'failed' | 'cancel';

interface LinkOptions<Mine extends Procedures> {
  readonly port: MessagePort;
  readonly procedures: Implementations<Mine>;
  /** Logs what was thrown here and is not a ServiceError. The other end gets `internal`. */
  readonly logger: Logger;
}

export function createLink<Mine extends Procedures, Theirs extends Procedures>({
  port,
  procedures,
  logger,
}: LinkOptions<Mine>): Link<Theirs> {
  const send = sendByTurns<Kind>(port);
  const waiting = new Slots<Settle<never>>();
  const running = new NamedSlots<number, AbortController>();
  let isOpen = true;

  const serve = async (id: number, name: string, args: unknown) => {
    const call = new AbortController();
    running.set(id, call);
    try {
      // Both ends are built from the same types.
      send('done', id, await procedures[name as keyof Mine](args as never, call.signal), undefined);
    } catch (thrown) {
      const error = asServiceError(thrown);
      if (error.code === 'internal')
        logger.error({ err: thrown, procedure: name }, 'a call of another thread failed');
      send('failed', id, toErrorReply(error), undefined);
    } finally {
      running.take(id);
    }
  };
  const settle = (id: number, how: (settle: Settle<never>) => void) => {
    const waiter = waiting.take(id);
    if (waiter !== undefined) how(waiter);
  };
  const take: Send<Kind> = (kind, id, first, second) => {
    if (kind === 'done') settle(id, ({ resolve }) => resolve(first as never));
    else if (kind === 'call') void serve(id, first as string, second);
    else if (kind === 'failed') settle(id, ({ reject }) => reject(fromErrorReply(first as ErrorReply)));
    else running.get(id)?.abort(givenUp());
  };
  const end = () => {
    isOpen = false;
    for (const [id] of waiting.entries()) settle(id, ({ reject }) => reject(gone({ outcome: 'unknown' })));
    for (const call of running.values()) call.abort(gone({}));
  };
  takeItems(port, take);
  port.on('close', end);

  const begin: Link<Theirs>['begin'] = (name, args, settled) => {
    if (!isOpen) {
      settled.reject(gone({ reached: false }));
      return () => undefined;
    }
    const id = waiting.add(settled as Settle<never>);
    send('call', id, name, args);
    return () => {
      if (waiting.get(id) !== undefined) send('cancel', id, undefined, undefined);
    };
  };
  return {
    begin,
    call: (name, args) => new Promise((resolve, reject) => begin(name, args, { resolve, reject })),
    get isOpen() {
      return isOpen;
    },
    close: () => {
      end();
      port.close();
    },
  };
}

const givenUp = (): ServiceError =>
  new ServiceError('unavailable', 'The caller no longer waits for the answer.');

/** `facts`: whether the other thread may have carried the call out, in the words of the bus (`packages/bus`). */
const gone = (facts: JsonObject): ServiceError =>
  new ServiceError('unavailable', 'The other thread is gone.', { facts });

/** So many items do not wait for the end of the turn: the other thread begins while this one still works. */
const MANY = 16;

/** Sends an item through a port: its kind, the id it belongs to, and up to two things more, by kind. */
type Send<Kind extends string> = (kind: Kind, id: number, first: unknown, second: unknown) => void;

/** The members of each item. */
const LENGTH = 4;

/**
 * Items sent within a turn of the event loop travel as one message, because waking the other thread costs as much as
 * cloning a dozen items. Their members form one flat array: an object around each would double the cost of cloning. An
 * item that cannot be cloned is a mistake of the program and becomes an uncaught error.
 */
function sendByTurns<Kind extends string>(port: MessagePort): Send<Kind> {
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

/** Receives the items that come through a port. */
function takeItems<Kind extends string>(port: MessagePort, take: Send<Kind>): void {
  port.on('message', (members: readonly unknown[]) => {
    for (let at = 0; at < members.length; at += LENGTH)
      // Both ends are built from the same types.
      take(members[at] as Kind, members[at + 1] as number, members[at + 2], members[at + 3]);
  });
}
