import { ERRORS, type ExecutionError } from '@orrery/contracts';

/**
 * The error of an occurrence for those who may not see the code: no text of a template but what its `fail()` says. Rows of
 * earlier releases do not hold `told`, and also quote the templates of executions.
 */
export function toldError(error: ExecutionError | null): ExecutionError | null {
  if (error === null || !quotesTemplate(error)) return error;
  const { code, detail } = error;
  const { placeholder: _, pointer: _at, reason, told, ...facts } = error.facts ?? {};
  const authored = detail === reason ? detail : `${ERRORS.template_failed.title}.`;
  const shown = typeof told === 'string' ? told : authored;
  return { code, detail: shown, facts: { ...facts, reason: shown } };
}

/** Facts that are too large are left out. */
const quotesTemplate = ({ code, facts }: ExecutionError): boolean =>
  facts?.['placeholder'] !== undefined || (code === 'template_failed' && facts === undefined);
