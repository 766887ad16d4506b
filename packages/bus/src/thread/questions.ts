import type { ErrorReply } from '@orrery/contracts';
import type { Question } from '@orrery/service-kit';
import type { Fact } from '../transport.js';
import type { CarriedFrame } from './carried-frame.js';

/** What a thread asks of the one that has the transport; ids are the thread's own. */
export type HostQuestions = {
  request: Question<
    readonly [subject: string, group: string, timeoutMs: number, frame: CarriedFrame],
    CarriedFrame
  >;
  respond: Question<{ group: string; subjects: readonly string[] }, void>;
  broadcast: Question<{ subject: string; frame: CarriedFrame }, void>;
  listen: Question<{ id: number; subject: string }, void>;
  append: Question<{ subject: string; facts: readonly Fact[] }, (ErrorReply | undefined)[]>;
  read: Question<{ id: number; subject: string; consumer: string; maxInFlight: number }, void>;
  /** Ends what was begun under this id. */
  end: Question<{ id: number }, void>;
  leave: Question<undefined, void>;
};

/** A fact on its way to a reader in the other thread. */
export interface CarriedFact extends Fact {
  readonly seq: number;
  readonly attempt: number;
}

/** How the reader ended with it. */
export type FactEnd = { readonly done: true } | { readonly delayMs: number; readonly counts: boolean };

/** What the thread with the transport asks of the other. */
export type GuestQuestions = {
  answer: Question<{ subject: string; frame: CarriedFrame }, CarriedFrame>;
  hear: Question<{ id: number; frame: CarriedFrame }, void>;
  handle: Question<{ id: number; fact: CarriedFact }, FactEnd>;
};
