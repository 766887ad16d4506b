import { createHash } from 'node:crypto';

/** Bytes of a file's name without its ending. */
const MAX_BYTES = 100;

/**
 * A file's name for a definition's: its letters and digits of any language, the rest percent-encoded. Files are told apart
 * by the `name` in them, so it need not be turned back.
 * @param taken names of other files, in lower case: some file systems take no two that differ in case alone
 */
export function fileNameOf(name: string, taken: ReadonlySet<string> = new Set()): string {
  const safe = name.replaceAll(/[^\p{L}\p{N}._ -]|^[. -]|[. ]$/gu, encoded);
  const isFree = Buffer.byteLength(safe) <= MAX_BYTES && !taken.has(safe.toLowerCase());
  return isFree ? safe : `${cut(safe)}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

/** As `encodeURIComponent`, which leaves some signs as they are. */
const encoded = (sign: string): string =>
  [...Buffer.from(sign)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

function cut(text: string): string {
  let short = '';
  for (const sign of text) {
    if (Buffer.byteLength(short + sign) > MAX_BYTES) break;
    short += sign;
  }
  return short;
}
