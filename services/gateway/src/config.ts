import { type Environment, port, readEnvironment, wholeNumber } from '@orrery/service-kit';
import { z } from 'zod';
import type { HttpLimits } from './http/create-http.js';
import { trustedProxies } from './http/trusted-proxies.js';

const limit = (fallback: number, min: number, max: number, what: string) =>
  wholeNumber({ min, max, what: `${what}, ${min} to ${max}` }).default(fallback);

const environment = z.object({
  PORT: port.default(3000),
  HOST: z.string().max(255).default('127.0.0.1').describe('the address to listen on'),
  BODY_LIMIT: limit(1024 * 1024, 1024, 32 * 1024 * 1024, 'bytes that a request body may have'),
  REQUEST_TIMEOUT_MS: limit(30_000, 1000, 600_000, 'milliseconds within which a request must have arrived'),
  HEADERS_TIMEOUT_MS: limit(10_000, 1000, 600_000, 'milliseconds within which its headers must have arrived'),
  CALL_DEADLINE_MS: limit(30_000, 1000, 600_000, 'milliseconds that a request may take to be answered'),
  TRUST_PROXY: z
    .string()
    .max(1024)
    .default('false')
    .describe('true, false, a number of hops, or addresses and networks separated by commas'),
});

export interface GatewayConfig {
  readonly host: string;
  readonly port: number;
  readonly limits: HttpLimits;
  /** How long a call to a service may take, in milliseconds. */
  readonly deadlineMs: number;
}

/** @throws StartupError naming every variable that is wrong. */
export function readGatewayConfig(env: Environment): GatewayConfig {
  const read = readEnvironment(environment, env);
  return {
    host: read.HOST,
    port: read.PORT,
    limits: {
      bodyLimit: read.BODY_LIMIT,
      requestTimeoutMs: read.REQUEST_TIMEOUT_MS,
      headersTimeoutMs: read.HEADERS_TIMEOUT_MS,
      trustProxy: trustedProxies(read.TRUST_PROXY),
    },
    deadlineMs: read.CALL_DEADLINE_MS,
  };
}
