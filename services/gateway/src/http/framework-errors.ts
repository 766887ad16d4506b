import { asServiceError, type ErrorCode, ServiceError } from '@orrery/contracts';

/** What the framework refuses by itself, in our words. */
const FRAMEWORK_ERRORS: Record<string, readonly [ErrorCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body is larger than this server accepts'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'Send the body as Content-Type: application/json',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_json', 'The body is not as long as Content-Length says'],
  FST_ERR_BAD_URL: ['validation_failed', 'The path is not valid percent-encoded UTF-8'],
  FST_ERR_MAX_PARAM_LENGTH: ['validation_failed', 'A path segment is too long'],
};

/** Any error that reached the HTTP edge. A client error of the framework that is not listed stays a client error. */
export function edgeError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  const known = typeof code === 'string' ? FRAMEWORK_ERRORS[code] : undefined;
  if (known !== undefined) return new ServiceError(known[0], known[1], { cause: error });
  const isClientError = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return isClientError
    ? new ServiceError('validation_failed', undefined, { cause: error })
    : asServiceError(error);
}
