/**
 * The service cannot start, and the operator can do something about it. The message is one line that says
 * what is wrong and what to do; it is printed as it is, so it holds no secret.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
