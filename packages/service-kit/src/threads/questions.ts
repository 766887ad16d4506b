import type { Cancellation, ServiceError } from '@orrery/contracts';

/** What comes with a question and what is answered; both are cloned. */
export interface Question<Args, Answer> {
  readonly args: Args;
  readonly answer: Answer;
}

/** What one end of a link may be asked, by name. */
export type Questions = Record<string, Question<unknown, unknown>>;

/** How one end answers. `call` aborts when the other end no longer waits. */
export type Answers<Q> = {
  readonly [Name in keyof Q]: Q[Name] extends Question<infer Args, infer Answer>
    ? (args: Args, call: Cancellation) => Answer | Promise<Answer>
    : never;
};

export interface Settle<Answer> {
  resolve(answer: Answer): void;
  /** What the other end threw, or `unavailable` when it is gone. */
  reject(error: ServiceError): void;
}
