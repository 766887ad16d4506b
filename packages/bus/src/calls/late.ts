import { ServiceError } from '@orrery/contracts';

export const lateError = (): ServiceError => new ServiceError('deadline_exceeded');

/** The serving side keeps the deadline by itself; it has to be told of everything else. */
export const isLate = ({ code }: ServiceError): boolean => code === 'deadline_exceeded';

export const goneError = (): ServiceError =>
  new ServiceError('unavailable', 'The caller no longer waits for the answer');

/** A longer wait than this makes a timer fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * A plain timer: real time, not the `Clock`'s. One is made for each call on both sides, and a sleep that can
 * be aborted would cost several times the rest of the call's bookkeeping.
 */
export const startDeadline = (ms: number, onLate: () => void): NodeJS.Timeout =>
  setTimeout(onLate, Math.min(ms, LONGEST_TIMER_MS));
