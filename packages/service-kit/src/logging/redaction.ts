/** Names whose values never appear in a log line (invariant: no secret in logs). */
const SECRET_NAMES = [
  'authorization',
  'Authorization',
  'cookie',
  'x-payment',
  'X-PAYMENT',
  'payment-signature',
  'PAYMENT-SIGNATURE',
  'token',
  'key',
  'apiKey',
  'privateKey',
  'signerKey',
  'secret',
  'password',
  'signature',
];

/** Deep enough for `{ err: { request: { headers: { authorization } } } }`. */
const DEPTH = 4;

/** The paths that pino blanks out: each secret name at the top and below any member, four levels down. */
export function redactedPaths(): string[] {
  const prefixes = Array.from({ length: DEPTH }, (_, depth) => '*.'.repeat(depth));
  return prefixes.flatMap((prefix) => SECRET_NAMES.map((name) => `${prefix.slice(0, -1)}["${name}"]`));
}
