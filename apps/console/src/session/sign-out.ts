import { createOrrery } from '@orrery/sdk';
import type { Session } from './session.js';

/** How long a revocation is tried again, in milliseconds. */
const RETRY_MS = 2000;

/**
 * Ends the session at once. A key that a sign-in made is revoked, so that it is worth nothing afterwards; a key that the
 * person gave goes on. Where the revocation fails the sign-in page says so.
 */
export async function signOut(session: Session): Promise<void> {
  const token = session.current();
  const isMade = session.isMade();
  session.end();
  if (token === undefined || !isMade) return;
  try {
    await revoke(token);
  } catch (error) {
    session.say(
      'You are signed out, but the key of the session could not be revoked: it stays good for 24 hours after the sign-in. ' +
        (error as Error).message,
    );
  }
}

/** The request goes on where the tab is closed meanwhile. A token holds its key's id. */
const revoke = (token: string): Promise<unknown> =>
  createOrrery({
    url: location.origin,
    token,
    retryForMs: RETRY_MS,
    fetch: (request) => fetch(request, { keepalive: true }),
  }).delete('/api/keys/{id}', { path: { id: token.slice('orrery_'.length, ID_END) } });

const ID_END = 'orrery_'.length + 12;
