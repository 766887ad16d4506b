import type { Rpc } from '@orrery/contracts';
import { z } from 'zod';

/** What the gateway needs to know about an operation in order to read its requests. */
export interface RequestSchema {
  /** Lower-case names of the headers that the operation reads. */
  headers: readonly string[];
  /** `none`: an absent body counts as an empty object. */
  body: 'none' | 'array' | 'object';
}

/** The parts of an operation's request schema, as documents and checks need them. */
export interface RequestParts {
  params: z.ZodType;
  query: z.ZodType;
  headers: z.ZodType;
  body: z.ZodType;
}

export function requestParts(rpc: Rpc): RequestParts {
  const { shape } = rpc.request as z.ZodObject<Record<keyof RequestParts, z.ZodType>>;
  return { params: shape.params, query: shape.query, headers: shape.headers, body: shape.body };
}

export function requestSchema(rpc: Rpc): RequestSchema {
  const { headers, body } = requestParts(rpc);
  return { headers: membersOf(headers), body: bodyKind(body) };
}

const membersOf = (schema: z.ZodType): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];

function bodyKind(body: z.ZodType): RequestSchema['body'] {
  if (body instanceof z.ZodArray) return 'array';
  return membersOf(body).length === 0 ? 'none' : 'object';
}

/** The path of a request target, without its query: queries are not repeated in answers and logs. */
export function pathOf(url: string): string {
  const end = url.search(/[?;#]/);
  return end === -1 ? url : url.slice(0, end);
}
