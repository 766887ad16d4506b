import { cutText, type FailedCode, type JsonObject, ServiceError, storableText } from '@orrery/contracts';
import { failureDetail, type TemplateFailure } from '@orrery/expressions';

/** The cause of an error, for those alone who may see the code of the version. */
class CodeFailure {
  readonly code: FailedCode;
  /** The detail of the error, and what it is where nothing is left out. */
  readonly told: string;
  readonly whole: string;

  constructor(code: FailedCode, told: string, whole: string) {
    this.code = code;
    this.told = told;
    this.whole = whole;
  }
}

/**
 * A failure in a template, as everybody may read it: the journal, who executes publicly and a model are told no text of the
 * template. `pointer` is where the template stands in its version.
 */
export function templateFailed(problem: TemplateFailure, pointer = ''): ServiceError {
  const { told: reason, placeholder } = problem;
  const at = `${pointer}${problem.pointer}`;
  const code = { placeholder, pointer: at, reason: problem.reason };
  const cause = new CodeFailure(code, reason, failureDetail({ ...problem, pointer: at }));
  return new ServiceError('template_failed', reason, { facts: { reason }, cause });
}

/** Characters of a placeholder, or of the pointer to it, that are kept. */
const MAX_KEPT = 5000;
const kept = (text: string): string => cutText(storableText(text), MAX_KEPT);

/** Where the code of the version failed, as it is stored; null: the error is of something else. */
export function failedCodeOf({ cause }: ServiceError): FailedCode | null {
  if (!(cause instanceof CodeFailure)) return null;
  const { placeholder, pointer, reason } = cause.code;
  return { placeholder: kept(placeholder), pointer: kept(pointer), reason: kept(reason) };
}

/** The error for those who may see the code. */
export function withFailedCode(error: ServiceError): ServiceError {
  const { code, message, errors, facts, cause } = error;
  if (!(cause instanceof CodeFailure)) return error;
  const all: JsonObject = { ...facts, ...cause.code };
  return new ServiceError(code, message === cause.told ? cause.whole : message, {
    errors,
    facts: all,
    cause,
  });
}
