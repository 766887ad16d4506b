import type { FastifyReply } from 'fastify';
import type { OperationReply, RoutedRpc } from './routed-rpc.js';

/** The body of a success; what is undefined is not sent. */
interface Envelope extends Omit<OperationReply, 'etag'> {
  success: true;
}

/**
 * Prepares the answer with the operation's status, `Location` and `ETag` and gives its body: the success envelope
 * (decisions §1). Whoever returns the body has it sent; a returned reply, being a thenable, would be awaited again.
 */
export function answerEnvelope(
  rpc: RoutedRpc,
  params: Record<string, string>,
  { data, message, pagination, etag }: OperationReply,
  reply: FastifyReply,
): Envelope {
  const record = data as Record<string, unknown>;
  const location = rpc.http.location?.({ params }, record);
  if (location !== undefined) reply.header('location', location);
  if (etag !== undefined) reply.header('etag', quoted(etag));
  const accepted = rpc.http.accepted?.(record) === true;
  // RFC 7240 §3: only what was asked for with `Prefer: respond-async` is taken on.
  if (accepted) reply.header('preference-applied', 'respond-async');
  reply.code(accepted ? 202 : rpc.http.status);
  return { success: true, data, message, pagination };
}

/** RFC 9110 §8.8.3: an entity tag is quoted. */
const quoted = (tag: string): string => (tag.startsWith('"') ? tag : `"${tag}"`);
