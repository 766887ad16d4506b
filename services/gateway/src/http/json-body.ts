import { findUnsafeJson, ServiceError } from '@orrery/contracts';
import type { FastifyInstance } from 'fastify';

/** RFC 8259 §8.1: JSON that travels is UTF-8. A byte order mark is kept, so that parsing refuses it. */
const utf8 = () => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Makes JSON the only accepted body. An empty one counts as absent, whatever the content type says: DELETE and
 * actions are often sent that way.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, bytes: Buffer) => (bytes.length === 0 ? undefined : parseJsonBody(bytes)),
  );
}

/** @throws ServiceError `invalid_json`, or `validation_failed` for what no service accepts. */
function parseJsonBody(bytes: Uint8Array): unknown {
  const value = parse(bytes);
  const problem = findUnsafeJson(value);
  if (problem === undefined) return value;
  const detail = `${problem.pointer || 'the body'}: ${problem.message}`;
  throw new ServiceError('validation_failed', detail, { errors: [problem] });
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8().decode(bytes));
  } catch (cause) {
    throw new ServiceError('invalid_json', undefined, { cause });
  }
}
