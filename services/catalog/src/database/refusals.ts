import { type ErrorCode, fieldProblem, ServiceError } from '@orrery/contracts';
import { classifyPostgresError, toServiceError } from '@orrery/database';

type Meaning = readonly [code: ErrorCode, message: string];

/** What it means to a caller when a row breaks one of these. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  entity_schemas_name_key: ['entity_schema_exists', 'The world has an entity schema of this name already.'],
  attributes_name_key: ['attribute_exists', 'The entity schema has an attribute of this name already.'],
  events_name_key: ['event_exists', 'The world has an event of this name already.'],
};

/** An error of a store as one that may leave the service. */
export function toRefusal(error: unknown): ServiceError {
  const failure = classifyPostgresError(error);
  const meaning = 'constraint' in failure ? MEANINGS[failure.constraint] : undefined;
  if (meaning === undefined) return toServiceError(error);
  const [code, message] = meaning;
  return new ServiceError(code, message, { errors: [fieldProblem('/name', code, message)], cause: error });
}
