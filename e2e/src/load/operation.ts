/** What a client knows of an operation in the end. `unknown`: it may have taken effect, once, or not at all. */
export type Outcome = 'ok' | 'fail' | 'unknown';

export type OperationKind =
  | 'direct'
  | 'pushed'
  | 'asynchronous'
  | 'later'
  | 'leading'
  | 'ai'
  | 'public'
  | 'paid'
  | 'write';

/** One request of an operation, and what came back. */
export interface Try {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly ms: number;
  /** 0: there was no answer. */
  readonly status: number;
  /** The code of the error, or how the connection broke. */
  readonly code: string;
  /** The error as it came; empty for a success. */
  readonly detail: string;
  readonly requestId: string;
  readonly outcome: Outcome;
}

/** An operation of a client. Its number stands in the entry of the journal that it leaves. */
export interface Operation {
  readonly number: number;
  readonly kind: OperationKind;
  /** Address of the deployment. */
  readonly deployment: string;
  readonly tries: Try[];
  outcome: Outcome;
  /** What an answer of success named. */
  historyId?: string;
  seq?: number;
  /** Of a paid one. */
  payer?: string;
}

/** The clients' own log. */
export class OperationLog {
  readonly operations: Operation[] = [];
  #next = 1;

  begin(kind: OperationKind, deployment: string): Operation {
    const operation: Operation = { number: this.#next, kind, deployment, tries: [], outcome: 'unknown' };
    this.#next += 1;
    this.operations.push(operation);
    return operation;
  }
}

/** Of a deployment, from its path. */
export const addressOf = (path: string): string => path.split('/').at(-1) ?? '';
