import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonValue } from './json-value.js';

/** RFC 8785 text of a JSON value: the one form that hashes are taken over. */
export function canonicalJson(value: JsonValue): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('only JSON values have a canonical form');
  return text;
}

/** SHA-256 over the UTF-8 bytes of the RFC 8785 text, 64 lowercase hex digits. */
export const canonicalHash = (value: JsonValue): string => hash('sha256', canonicalJson(value), 'hex');
