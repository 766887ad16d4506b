import type { FastifyReply } from 'fastify';
import type { OperationReply, RoutedRpc } from './routed-rpc.js';

/** Sends the success envelope with the operation's status, `Location` and `ETag` (decisions §1). */
export function sendEnvelope(
  rpc: RoutedRpc,
  params: Record<string, string>,
  { data, message, pagination, etag }: OperationReply,
  reply: FastifyReply,
): FastifyReply {
  const record = data as Record<string, unknown>;
  const location = rpc.http.location?.({ params }, record);
  if (location !== undefined) reply.header('location', location);
  if (etag !== undefined) reply.header('etag', quoted(etag));
  const accepted = rpc.http.accepted?.(record) === true;
  // RFC 7240 §3: only what was asked for with `Prefer: respond-async` is taken on.
  if (accepted) reply.header('preference-applied', 'respond-async');
  return reply.code(accepted ? 202 : rpc.http.status).send({
    success: true,
    data,
    ...(message !== undefined && { message }),
    ...(pagination !== undefined && { pagination }),
  });
}

/** RFC 9110 §8.8.3: an entity tag is quoted. */
const quoted = (tag: string): string => (tag.startsWith('"') ? tag : `"${tag}"`);
