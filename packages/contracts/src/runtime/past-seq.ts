import { wholeNumberInQuery } from '../records/pagination.js';

/** The entry of the journal after which a past state is read. */
export const pastSeq = wholeNumberInQuery(
  /^[1-9]\d{0,14}$/,
  'A whole number of at least 1 is required.',
  999_999_999_999_999,
).optional();
