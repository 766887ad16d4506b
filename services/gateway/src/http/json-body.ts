import { isUtf8 } from 'node:buffer';
import { findUnsafeJson, ServiceError } from '@orrery/contracts';
import type { FastifyInstance } from 'fastify';

/**
 * Makes JSON the only accepted body. An empty one counts as absent, whatever the content type says: DELETE and
 * actions are often sent that way.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (_request: unknown, bytes: Buffer, done: (error: Error | null, body?: unknown) => void) => {
      let body: unknown;
      try {
        body = bytes.length === 0 ? undefined : parseJsonBody(bytes);
      } catch (error) {
        return done(error as Error);
      }
      done(null, body);
    },
  );
}

/** @throws ServiceError `invalid_json`, or `validation_failed` for what no service accepts. */
function parseJsonBody(bytes: Buffer): unknown {
  const value = parse(bytes);
  const problem = findUnsafeJson(value);
  if (problem === undefined) return value;
  const detail = `${problem.pointer || 'the body'}: ${problem.message}`;
  throw new ServiceError('validation_failed', detail, { errors: [problem] });
}

/** RFC 8259 §8.1: JSON that travels is UTF-8. A byte order mark is kept, so that parsing refuses it. */
function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new ServiceError('invalid_json');
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new ServiceError('invalid_json', undefined, { cause });
  }
}
