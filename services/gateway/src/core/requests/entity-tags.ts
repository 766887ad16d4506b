import { createHash } from 'node:crypto';
import { VERSION } from '@orrery/contracts';

const tagOf = (...parts: readonly string[]): string => {
  const hash = createHash('sha256').update(JSON.stringify([VERSION, ...parts]));
  return `"${hash.digest('base64url').slice(0, 27)}"`;
};

/** The entity tag of an answer that follows from a journal alone: from the hash of its last entry, and the request target. */
export const tagOfHead = (head: string, target: string): string => tagOf('head', head, target);

/** The entity tag of an answer that changes without its journal, from its text. */
export const tagOfText = (text: string): string => tagOf('text', text);

/** Whether `If-None-Match` names this tag (RFC 9110 §13.1.2: by the weak comparison), or anything. */
export const isNamed = (tag: string, ifNoneMatch: string | undefined): boolean =>
  ifNoneMatch?.split(',').some((one) => ['*', tag].includes(one.trim().replace(/^W\//, ''))) ?? false;
