import type { MessagePort } from 'node:worker_threads';
import {
  asServiceError,
  Canceller,
  type ErrorReply,
  fromErrorReply,
  ServiceError,
  toErrorReply,
} from '@orrery/contracts';
import type { Logger } from '../logging/create-logger.js';
import type { Answers, Questions, Settle } from './questions.js';
import { type Send, sendByTurns, takeItems } from './turn-port.js';

/** One end of a port between two threads, each of which answers what the other asks. */
export interface Link<Theirs extends Questions> {
  /** @throws ServiceError what the other end threw, or `unavailable` when it is gone. */
  ask<Name extends keyof Theirs & string>(
    name: Name,
    args: Theirs[Name]['args'],
  ): Promise<Theirs[Name]['answer']>;
  /** The same without a promise. @returns how to tell the other end that nobody waits; its answer settles it still. */
  begin<Name extends keyof Theirs & string>(
    name: Name,
    args: Theirs[Name]['args'],
    settle: Settle<Theirs[Name]['answer']>,
  ): () => void;
  /** Whether the other end is there still. */
  readonly isOpen: boolean;
  /** What this end waits for is refused, as is what it asks from now on. */
  close(): void;
}

/** With the name and the arguments; with the answer; with the error; with nothing. */
type Kind = 'ask' | 'done' | 'failed' | 'cancel';

export interface LinkOptions<Mine extends Questions> {
  readonly port: MessagePort;
  readonly answers: Answers<Mine>;
  /** Told of what was thrown here and is no ServiceError: the other end hears `internal`. */
  readonly logger: Logger;
}

export function createLink<Mine extends Questions, Theirs extends Questions>({
  port,
  answers,
  logger,
}: LinkOptions<Mine>): Link<Theirs> {
  const send = sendByTurns<Kind>(port);
  const waiting = new Map<number, Settle<never>>();
  const running = new Map<number, Canceller>();
  let isOpen = true;
  let asked = 0;

  const answer = async (id: number, name: string, args: unknown) => {
    const call = new Canceller();
    running.set(id, call);
    try {
      // Both ends are built from the same types.
      send('done', id, await answers[name as keyof Mine](args as never, call), undefined);
    } catch (thrown) {
      const error = asServiceError(thrown);
      if (error.code === 'internal')
        logger.error({ err: thrown, question: name }, 'another thread got no answer');
      send('failed', id, toErrorReply(error), undefined);
    } finally {
      running.delete(id);
    }
  };
  const settle = (id: number, how: (settle: Settle<never>) => void) => {
    const waiter = waiting.get(id);
    waiting.delete(id);
    if (waiter !== undefined) how(waiter);
  };
  const take: Send<Kind> = (kind, id, first, second) => {
    if (kind === 'done') settle(id, ({ resolve }) => resolve(first as never));
    else if (kind === 'ask') void answer(id, first as string, second);
    else if (kind === 'failed') settle(id, ({ reject }) => reject(fromErrorReply(first as ErrorReply)));
    else running.get(id)?.abort(givenUp());
  };
  const end = () => {
    isOpen = false;
    for (const id of [...waiting.keys()]) settle(id, ({ reject }) => reject(gone()));
    for (const call of running.values()) call.abort(gone());
  };
  takeItems(port, take);
  port.on('close', end);

  const begin: Link<Theirs>['begin'] = (name, args, settled) => {
    if (!isOpen) {
      settled.reject(gone());
      return () => undefined;
    }
    const id = ++asked;
    waiting.set(id, settled as Settle<never>);
    send('ask', id, name, args);
    return () => {
      if (waiting.has(id)) send('cancel', id, undefined, undefined);
    };
  };
  return {
    begin,
    ask: (name, args) => new Promise((resolve, reject) => begin(name, args, { resolve, reject })),
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
  new ServiceError('unavailable', 'Who asked no longer waits for the answer');

const gone = (): ServiceError => new ServiceError('unavailable', 'The other thread is gone');
