import type { ExecutionError, JsonObject, ServiceError } from '@orrery/contracts';

/** The most characters of a reason, and of its facts as JSON, that an entry holds. */
const MAX_DETAIL = 2000;
const MAX_FACTS = 8000;

/**
 * The reason of a failed execution as it is journalled and answered. A reason may quote data that was cut anywhere, so
 * lone surrogates and U+0000, which PostgreSQL cannot store, are replaced; facts that are too large are left out.
 */
export function executionErrorOf({ code, message, facts }: ServiceError): ExecutionError {
  const detail = clean(message.slice(0, MAX_DETAIL));
  const text = JSON.stringify(facts, (_key, value: unknown) =>
    typeof value === 'string' ? clean(value) : value,
  );
  if (text === '{}' || text.length > MAX_FACTS) return { code, detail };
  return { code, detail, facts: JSON.parse(text) as JsonObject };
}

const clean = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\ufffd');
