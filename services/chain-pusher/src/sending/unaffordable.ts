/**
 * Submissions that were sent and that the signer could not pay for. What a node wants for a large batch, or for several at once,
 * no check of the chain can tell: until the balance has changed or the node has taken them, nothing more is signed.
 */
export class Unaffordable {
  readonly #submissions = new Set<number>();
  #balance: number | null = null;

  note(submission: number): void {
    this.#submissions.add(submission);
  }

  /** The node has taken it. Answers whether it is one of them. */
  taken(submission: number): boolean {
    return this.#submissions.delete(submission);
  }

  /** Forgets those that are over. */
  keep(open: ReadonlySet<number>): void {
    for (const submission of this.#submissions)
      if (!open.has(submission)) this.#submissions.delete(submission);
  }

  /** Whether there are any, now that the balance is this one. */
  isLeftAt(balance: number): boolean {
    if (balance !== this.#balance) this.#submissions.clear();
    this.#balance = balance;
    return this.#submissions.size > 0;
  }
}
