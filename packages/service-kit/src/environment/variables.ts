import { z } from 'zod';

const urlWith = (schemes: readonly string[], description: string) =>
  z
    .string()
    .refine((text) => schemes.some((scheme) => text.startsWith(`${scheme}://`)) && URL.canParse(text), {
      message: description,
    })
    .describe(description);

/**
 * A PostgreSQL address, or one with several hosts separated by commas. A Unix socket is written
 * `postgres:///name?host=/folder`.
 */
export const databaseUrl = z
  .string()
  .refine((text) => {
    const [, before = '', hosts = '', after = ''] =
      /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/.exec(text) ?? [];
    // Without a host, its parameters name it.
    const named = hosts === '' ? ['localhost'] : hosts.split(',');
    return before !== '' && named.every((host) => host !== '' && URL.canParse(before + host + after));
  })
  .describe('a PostgreSQL address such as postgres://user:password@host:5432/orrery');

/** A NATS address, or several separated by commas. */
export const natsUrl = z
  .string()
  .refine((text) =>
    text.split(',').every((one) => /^(nats|tls|ws|wss):\/\//.test(one.trim()) && URL.canParse(one.trim())),
  )
  .describe('a NATS address such as nats://host:4222');

/** A Redis address. */
export const redisUrl = urlWith(['redis', 'rediss'], 'a Redis address such as redis://host:6379');

/** An HTTP(S) address. */
export const httpUrl = urlWith(['http', 'https'], 'an http or https address');

/** A TCP port; 0 lets the system choose one. */
export const port = wholeNumber({ min: 0, max: 65_535, what: 'a port number from 0 to 65535' });

/** `true`, `1`, `yes`, `on` or `false`, `0`, `no`, `off`. */
export const flag = z
  .stringbool({ truthy: ['true', '1', 'yes', 'on'], falsy: ['false', '0', 'no', 'off'] })
  .describe('true or false');

/** A whole number within bounds; `what` completes the sentence "expected …". */
export function wholeNumber({ min, max, what }: { min: number; max: number; what?: string }) {
  return z
    .string()
    .regex(/^-?\d{1,15}$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max)
    .describe(what ?? `a whole number from ${min} to ${max}`);
}
