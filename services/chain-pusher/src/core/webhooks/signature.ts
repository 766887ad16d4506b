import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** A secret as receivers get it (Standard Webhooks, "Symmetric"). @param bytes 24 to 64 random ones */
export const secretText = (bytes: Buffer): string => PREFIX + bytes.toString('base64');

/**
 * The headers by which a receiver recognizes a delivery (Standard Webhooks 1.0): one signature for each secret, of which it
 * needs to know one.
 * @param secrets as `secretText` makes them
 * @param at when it is sent, in milliseconds since the epoch
 */
export function signedHeaders(secrets: readonly string[], id: string, at: number, body: string) {
  const timestamp = Math.floor(at / 1000);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
