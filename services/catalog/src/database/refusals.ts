import { type ErrorCode, ServiceError } from '@orrery/contracts';
import { classifyPostgresError, toServiceError } from '@orrery/database';

/** What it means to a caller when a row breaks one of these. */
const MEANINGS: Readonly<Record<string, ErrorCode>> = {
  entity_schemas_name_key: 'entity_schema_exists',
  attributes_name_key: 'attribute_exists',
  events_name_key: 'event_exists',
};

/** An error of a store as one that may leave the service. */
export function toRefusal(error: unknown): ServiceError {
  const failure = classifyPostgresError(error);
  const code = 'constraint' in failure ? MEANINGS[failure.constraint] : undefined;
  return code === undefined ? toServiceError(error) : new ServiceError(code, undefined, { cause: error });
}
