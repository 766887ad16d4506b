import { accountOf, type Caller, type JsonObject } from '@orrery/contracts';
import type { KeyedRequest } from './answer-once.js';

/** `operation` names the method and the thing, so that a path by id and one by address are the same. */
export function keyedRequest(
  operation: string,
  key: string | undefined,
  request: object,
  caller: Caller,
): KeyedRequest | undefined {
  const accountId = accountOf(caller);
  if (key === undefined || accountId === undefined) return undefined;
  // A parsed body is JSON.
  return { accountId, operation, key, request: request as JsonObject };
}
