import { z } from 'zod';
import { type JsonObject, storableObject, storableText } from '../json/json.js';
import type { FieldProblem } from '../json/problems.js';

/** What a code means to a caller. `retryable`: the same request may succeed later without being changed. */
export interface ErrorMeaning {
  status: number;
  title: string;
  retryable: boolean;
}

const meaning = (status: number, title: string, retryable = false): ErrorMeaning => ({
  status,
  title,
  retryable,
});

/** The one table from error codes to HTTP. A title starts with a capital letter and has no full stop. */
export const ERRORS = {
  // 400: the request is wrong
  validation_failed: meaning(400, 'The request is not valid'),
  invalid_json: meaning(400, 'The body is not valid JSON'),
  malformed_request: meaning(400, 'The request is not valid HTTP'),
  body_must_be_array: meaning(400, 'The body must be an array'),
  duplicate_event: meaning(400, 'The same event appears twice'),
  page_too_deep: meaning(400, 'The page lies too deep in the list'),
  query_too_costly: meaning(400, 'The query costs too much'),
  conflicting_fields: meaning(400, 'Two spellings of one field differ'),
  template_required: meaning(400, 'Direct mode needs a template'),
  invalid_template: meaning(400, 'The template is not valid'),
  behavior_prompt_required: meaning(400, 'AI mode needs a behaviour prompt'),
  invalid_cron_schedule: meaning(400, 'The cron schedule is not valid'),
  unknown_event: meaning(400, 'No such event'),
  unknown_event_version: meaning(400, 'No such event version'),
  unknown_entity_schema: meaning(400, 'No such entity schema'),
  unknown_ai_model: meaning(400, 'No such AI model'),
  unknown_deployment: meaning(400, 'No such deployment'),
  unknown_chain: meaning(400, 'No such chain'),
  invalid_input: meaning(400, 'The input breaks its contract'),
  invalid_state: meaning(400, 'The state breaks its schema'),
  invalid_result: meaning(400, 'The result breaks its contract'),
  template_failed: meaning(400, 'The template failed'),
  operator_type_mismatch: meaning(400, 'An operator does not fit the value'),
  change_not_allowed: meaning(400, 'The change is not allowed'),
  invalid_change_key: meaning(400, 'The change key is not valid'),
  change_too_large: meaning(400, 'The change is too large'),
  invalid_follow_up: meaning(400, 'A follow-up is not valid'),
  event_not_bound: meaning(400, 'The event is not bound'),
  mutation_missing: meaning(400, 'The version has nothing to run'),
  ai_model_unpriced: meaning(400, 'The AI model has no prices'),
  invalid_payment: meaning(400, 'The payment header is not valid'),
  // 401
  unauthorized: meaning(401, 'Authentication is required'),
  invalid_signature: meaning(401, 'The signature is not valid'),
  signature_required: meaning(401, 'A signed message is required'),
  message_mismatch: meaning(401, 'The signed message does not fit the request'),
  message_expired: meaning(401, 'The signed message is outside its time window'),
  sign_in_code_invalid: meaning(401, 'The sign-in code is unknown, used or expired'),
  message_already_used: meaning(401, 'The signed message was used before'),
  // 402
  payment_required: meaning(402, 'Payment is required'),
  payment_refused: meaning(402, 'The payment was refused'),
  payment_already_used: meaning(402, 'The payment was used before'),
  // 403
  forbidden: meaning(403, 'Not allowed'),
  sign_up_closed: meaning(403, 'Sign-up is closed'),
  budget_exhausted: meaning(403, 'The budget is spent'),
  quota_exceeded: meaning(403, 'The quota of the account is used up'),
  deployment_not_public: meaning(403, 'The deployment is not public'),
  event_not_public: meaning(403, 'The event is not public'),
  // 404: absent, or not visible to the caller
  route_not_found: meaning(404, 'No such route'),
  world_not_found: meaning(404, 'World not found'),
  entity_schema_not_found: meaning(404, 'Entity schema not found'),
  attribute_not_found: meaning(404, 'Attribute not found'),
  event_not_found: meaning(404, 'Event not found'),
  event_version_not_found: meaning(404, 'Event version not found'),
  deployment_not_found: meaning(404, 'Deployment not found'),
  event_binding_not_found: meaning(404, 'Event binding not found'),
  entity_instance_not_found: meaning(404, 'Entity instance not found'),
  definition_not_found: meaning(404, 'No such definition'),
  history_entry_not_found: meaning(404, 'History entry not found'),
  execution_not_found: meaning(404, 'Execution not found'),
  timer_not_found: meaning(404, 'The deployment has no such pending timer'),
  schedule_not_found: meaning(404, 'The deployment has no schedule of this event'),
  push_not_found: meaning(404, 'Push not found'),
  webhook_not_found: meaning(404, 'Webhook not found'),
  key_not_found: meaning(404, 'Key not found'),
  account_not_found: meaning(404, 'Account not found'),
  // 405, 408
  method_not_allowed: meaning(405, 'Method not allowed'),
  request_timeout: meaning(408, 'The request took too long to arrive', true),
  // 409: the request meets a state that forbids it
  entity_schema_exists: meaning(409, 'The entity schema exists'),
  attribute_exists: meaning(409, 'The attribute exists'),
  event_exists: meaning(409, 'The event exists'),
  event_binding_exists: meaning(409, 'The event is already bound'),
  entity_instance_exists: meaning(409, 'The entity instance exists'),
  ambiguous_instance: meaning(409, 'Several instances have this key'),
  world_in_use: meaning(409, 'The world is in use'),
  entity_schema_in_use: meaning(409, 'The entity schema is in use'),
  event_in_use: meaning(409, 'The event is in use'),
  event_version_in_use: meaning(409, 'The event version is in use'),
  version_locked: meaning(409, 'The event version is locked'),
  deployment_locked: meaning(409, 'The deployment is locked'),
  deployment_paused: meaning(409, 'The deployment is paused'),
  what_if_refused: meaning(409, 'A what-if fork is quiet'),
  what_if_only: meaning(409, 'The deployment is no what-if fork'),
  evaluator_unavailable: meaning(409, 'The deployment was locked with rules that this release has not'),
  deployment_busy: meaning(409, 'The deployment is busy', true),
  limit_reached: meaning(409, 'A limit is reached'),
  too_many_timers: meaning(409, 'Too many timers are pending'),
  follow_up_too_deep: meaning(409, 'Too many executions follow each other at once'),
  read_set_too_large: meaning(409, 'The execution would read too many instances'),
  binding_changed: meaning(409, 'Another version is bound'),
  write_conflict: meaning(409, 'The instances are held by another run', true),
  request_in_flight: meaning(409, 'The same request is in flight', true),
  push_not_failed: meaning(409, 'The push has not failed'),
  delivery_pending: meaning(409, 'The entry is still to be delivered'),
  pay_to_address_missing: meaning(409, 'The deployment has no payment receiver'),
  history_broken: meaning(409, 'The history does not hold'),
  prompt_too_large: meaning(409, 'The prompt is too large for the model'),
  // 412, 413, 415, 422, 429
  revision_mismatch: meaning(412, 'The instance has another revision'),
  body_too_large: meaning(413, 'The body is too large'),
  unsupported_media_type: meaning(415, 'Only JSON is accepted'),
  idempotency_key_reused: meaning(422, 'The idempotency key was used with another request'),
  rate_limited: meaning(429, 'Too many requests', true),
  too_many_waiting: meaning(429, 'Too many executions wait for the AI model', true),
  headers_too_large: meaning(431, 'The headers are too large'),
  // 5xx
  internal: meaning(500, 'Internal error'),
  ai_output_invalid: meaning(502, 'The model gave no valid proposal', true),
  randomness_unavailable: meaning(503, 'No random numbers can be drawn', true),
  ai_model_unavailable: meaning(503, 'No usable AI model', true),
  webhooks_unavailable: meaning(503, 'The server sends no webhooks'),
  signing_unavailable: meaning(503, 'The server signs no checkpoints'),
  unavailable: meaning(503, 'A service is unavailable', true),
  overloaded: meaning(503, 'The service is overloaded', true),
  storage_full: meaning(503, 'The disk of the database is full', true),
  deadline_exceeded: meaning(504, 'The deadline has passed', true),
} as const satisfies Record<string, ErrorMeaning>;

export type ErrorCode = keyof typeof ERRORS;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

export interface ServiceErrorDetails {
  /** Parts of the request that are wrong. */
  errors?: readonly FieldProblem[];
  /** Typed facts for programs; public, so never a secret. */
  facts?: JsonObject;
  cause?: unknown;
}

/**
 * An error that may leave the service: a code of the table and a full sentence that says what to do. Without a `detail`
 * the title of the code is the sentence.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly errors: readonly FieldProblem[];
  readonly facts: JsonObject;

  constructor(code: ErrorCode, detail?: string, details: ServiceErrorDetails = {}) {
    super(detail ?? `${ERRORS[code].title}.`, { cause: details.cause });
    this.code = code;
    this.errors = details.errors ?? [];
    this.facts = details.facts ?? {};
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }
}

/** Anything thrown, as a ServiceError: what is unknown becomes `internal`, its text kept as cause only. */
export const asServiceError = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('internal', undefined, { cause: error });

/** How an error travels over the bus. */
export const errorReply = z.object({
  code: z.string(),
  detail: z.string(),
  errors: z.array(
    z.object({
      pointer: z.string(),
      code: z.string(),
      message: z.string(),
      suggestion: z.string().exactOptional(),
    }),
  ),
  facts: z.record(z.string(), z.json()),
  /** What HTTP says of the code, for a receiver of an earlier release, which may not know it; stored errors have none. */
  status: z.int().exactOptional(),
});
export type ErrorReply = z.infer<typeof errorReply>;

/** The one way from an error to a row, a key's answer or the wire: a reason may quote text that PostgreSQL refuses. */
export const toErrorReply = (error: ServiceError): ErrorReply => ({
  code: error.code,
  detail: storableText(error.message),
  errors: error.errors.map(({ pointer, code, message, suggestion }) => ({
    pointer: storableText(pointer),
    code,
    message: storableText(message),
    ...(suggestion !== undefined && { suggestion: storableText(suggestion) }),
  })),
  facts: storableObject(error.facts),
});

export function fromErrorReply(reply: ErrorReply): ServiceError {
  const code = isErrorCode(reply.code) ? reply.code : codeOfStatus(reply.status);
  return new ServiceError(code, reply.detail, { errors: reply.errors, facts: reply.facts });
}

/** What a code of a later release comes to: a refusal stays one, with its own sentence. */
function codeOfStatus(status = 500): ErrorCode {
  if (status < 500) return 'validation_failed';
  return status === 503 ? 'unavailable' : 'internal';
}
