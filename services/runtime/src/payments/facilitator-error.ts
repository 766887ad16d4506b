/** A facilitator that cannot be asked, or whose answer says nothing. What it has sent may quote the key in its address. */
export class FacilitatorError extends Error {
  /** HTTP status of its answer; undefined where none came. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined) {
    super(message);
    this.name = 'FacilitatorError';
    this.status = status;
  }
}

/** The library says the status in its message alone. */
const STATUS = /^Facilitator \w+ failed \((\d{3})\)/;
const UNREADABLE = 'FacilitatorResponseError';

/** What a call of the x402 library has failed with, without what the facilitator has sent. */
export function facilitatorError(error: unknown): FacilitatorError {
  if (error instanceof FacilitatorError) return error;
  const { name, message = '', statusCode, cause } = error as Partial<Error> & { statusCode?: unknown };
  if (name === UNREADABLE)
    return new FacilitatorError('the facilitator gave an answer that cannot be read', 200);
  const status =
    typeof statusCode === 'number' ? statusCode : Number(STATUS.exec(message)?.[1] ?? Number.NaN);
  if (Number.isInteger(status))
    return new FacilitatorError(`the facilitator answered with the status ${status}`, status);
  const { code = name } = (cause ?? error) as { code?: unknown };
  return new FacilitatorError(`the facilitator cannot be reached (${String(code)})`, undefined);
}
