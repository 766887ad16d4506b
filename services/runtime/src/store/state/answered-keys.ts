import type { JsonValue } from '@orrery/contracts';
import { IDEMPOTENCY_KEPT_MS } from '@orrery/database';

interface Answer {
  readonly requestHash: string;
  readonly reply: JsonValue;
  /** When the key was claimed, in milliseconds since the epoch. */
  readonly at: number;
  /** What it takes in memory, roughly. */
  readonly bytes: number;
}

/** As many answers are kept, and as many bytes of them, beside those of the last two batches. */
const MOST_ANSWERS = 256;
const MOST_BYTES = 256 * 1024;

/**
 * Answers of requests with an Idempotency-Key that a deployment's owner has committed, the latest of them, by `keyIdOf`. All
 * of them are in the database once their commits have ended; these are for the items that were prepared before.
 */
export class AnsweredKeys {
  readonly #answers = new Map<string, Answer & { readonly number: number }>();
  #bytes = 0;
  #added = 0;
  /** Keys with smaller numbers may be forgotten. */
  #forgotten = 0;
  /** The last batch with a key, by the `seq` before it, and the number of its first key; and that of the batch before. */
  #batch = -1;
  #first = 0;
  #firstBefore = 0;

  /** The answer of a key that is not free again. `now` in milliseconds since the epoch. */
  get(keyId: string, now: number): Pick<Answer, 'requestHash' | 'reply'> | undefined {
    const answer = this.#answers.get(keyId);
    return answer === undefined || isOver(answer, now) ? undefined : answer;
  }

  /** Adds an answer that a batch commits; `seqBefore`: of the journal's head before the batch. */
  add(keyId: string, answer: Answer, seqBefore: number): void {
    if (seqBefore !== this.#batch) {
      this.#batch = seqBefore;
      this.#firstBefore = this.#first;
      this.#first = this.#added;
    }
    this.#remove(keyId);
    this.#answers.set(keyId, { ...answer, number: this.#added });
    this.#added += 1;
    this.#bytes += answer.bytes;
    this.#shorten(answer.at);
  }

  /** Keys with this number or a larger one may not be in the database yet: a deployment has one batch in flight. */
  get uncommitted(): number {
    return this.#first;
  }

  /** Whether none was forgotten of those that may not have been in the database when `uncommitted` was this. */
  hasAllSince(uncommitted: number): boolean {
    return this.#forgotten <= uncommitted;
  }

  /** Roughly how many bytes it holds. */
  bytes(): number {
    return this.#bytes;
  }

  #shorten(now: number): void {
    for (const [keyId, answer] of this.#answers) {
      const isTooMuch = this.#answers.size > MOST_ANSWERS || this.#bytes > MOST_BYTES;
      if (!isOver(answer, now)) {
        if (!isTooMuch || answer.number >= this.#firstBefore) return;
        this.#forgotten = answer.number + 1;
      }
      this.#remove(keyId);
    }
  }

  #remove(keyId: string): void {
    this.#bytes -= this.#answers.get(keyId)?.bytes ?? 0;
    this.#answers.delete(keyId);
  }
}

const isOver = ({ at }: Answer, now: number): boolean => at <= now - IDEMPOTENCY_KEPT_MS;
