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

/** Whether `If-None-Match` names this tag (RFC 9110 §13.1.2: by the weak comparison). */
export const isNamed = (tag: string, ifNoneMatch: string | undefined): boolean =>
  ifNoneMatch?.split(',').some((one) => one.trim().replace(/^W\//, '') === tag) ?? false;

/** Whether it names whatever there is; that something is there has to be known first. */
export const namesAny = (ifNoneMatch: string | undefined): boolean => ifNoneMatch?.trim() === '*';

/** A list that says at its end whether it can change by itself. */
const MOVING = /,"isMoving":(true|false)\}$/;

/** The same reply without that member, which is false where it is absent. */
export function movingOf(text: string): { readonly text: string; readonly isMoving: boolean } {
  const found = MOVING.exec(text.slice(-32));
  if (found === null) return { text, isMoving: false };
  return { text: `${text.slice(0, -found[0].length)}}`, isMoving: found[1] === 'true' };
}
