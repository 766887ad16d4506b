/** The connection was lost inside a transaction that had not been asked to commit: nothing was applied. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/**
 * The connection was lost while a COMMIT, or a statement outside a transaction, was under way. It may have
 * been applied, now or in a moment: read before you write again.
 */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** A statement had failed, the failure was swallowed, and PostgreSQL turned the COMMIT into a ROLLBACK. */
export class CommitRefused extends Error {
  override readonly name = 'CommitRefused';
}
