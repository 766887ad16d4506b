import { ERRORS, type FieldProblem, type JsonObject, type ServiceError } from '@orrery/contracts';
import { encodeJson } from '../requests/payment-headers.js';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** A problem document (RFC 9457) that also has the members which every answer's envelope has. */
export interface Problem {
  success: false;
  error: string;
  code: string;
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  requestId: string;
  errors?: FieldProblem[];
  /** Typed facts for programs, such as the instances that an ambiguous key matches. */
  facts?: JsonObject;
}

/** The problem document of an error. An `internal` error reveals only its title. */
export function problemOf(error: ServiceError, where: { instance: string; requestId: string }): Problem {
  const { title, status } = ERRORS[error.code];
  const detail = error.code === 'internal' ? `${title}.` : error.message;
  return {
    ...extensions(error, status),
    success: false,
    error: detail,
    code: error.code,
    type: `urn:orrery:problem:${error.code}`,
    title,
    status,
    detail,
    ...where,
    ...(error.errors.length > 0 && { errors: [...error.errors] }),
  };
}

/** Clients of x402 version 1 read `x402Version` and `accepts` at the top of a 402 body; other facts are in `facts`. */
function extensions({ code, facts }: ServiceError, status: number): object {
  if (code === 'internal') return {};
  const { accepts, paymentRequired: _, ...others } = facts;
  const shown = status === 402 ? others : facts;
  return {
    ...(status === 402 && { x402Version: 1, accepts: accepts ?? [] }),
    ...(Object.keys(shown).length > 0 && { facts: shown }),
  };
}

/** RFC 9110 §15.5.2: a 401 names what it expects. The scheme `Wallet` is a signature in the body. */
const challengeOf = ({ code }: ServiceError): string =>
  `${code === 'unauthorized' ? 'Bearer' : 'Wallet'} realm="orrery"`;

/** Headers of an error: when to retry, how to authenticate, how to pay (x402 version 2). */
export function problemHeaders(error: ServiceError): Record<string, string> {
  const { paymentRequired } = error.facts;
  if (ERRORS[error.code].status === 402 && paymentRequired !== undefined)
    return { 'payment-required': encodeJson(paymentRequired) };
  if (ERRORS[error.code].status === 401) return { 'www-authenticate': challengeOf(error) };
  const seconds = error.facts['retryAfterSeconds'];
  if (typeof seconds === 'number') return { 'retry-after': String(Math.max(1, Math.ceil(seconds))) };
  return ERRORS[error.code].status === 503 ? { 'retry-after': '1' } : {};
}
