import { type ErrorCode, type FieldProblem, fieldProblem, ServiceError } from '@orrery/contracts';
import { contentBytes } from '../../hashing/content-hash.js';
import type { StoredVersion } from '../stored-version.js';
import { below } from './below.js';
import { wrongContracts } from './check-contracts.js';
import { wrongGuards } from './check-guards.js';
import { missingPrompt, missingTemplate } from './check-mutation.js';
import { wrongSchedule } from './check-schedule.js';
import { wrongTemplates } from './check-templates.js';

interface CheckOptions {
  /** Where the definition stands in the request: '' or '/firstVersion'. */
  pointer: string;
  /** Milliseconds since the epoch: a schedule must fire after it. */
  now: number;
  /** Bytes of JSON that a definition may take. */
  maxBytes: number;
}

/**
 * Finds when it is saved what would fail at the first run; what depends on the world's schemas is checked where they
 * are held (`save-version.ts`).
 *
 * @throws ServiceError with all problems of the first kind found: `template_required`, `behavior_prompt_required`,
 *   `invalid_cron_schedule`, `validation_failed`, `invalid_template`.
 */
export function checkVersion(version: StoredVersion, { pointer, now, maxBytes }: CheckOptions): void {
  const refuse = (problems: FieldProblem[], code: ErrorCode) => throwProblems(below(pointer, problems), code);
  refuse(oversize(version, maxBytes), 'validation_failed');
  refuse(missingTemplate(version), 'template_required');
  refuse(missingPrompt(version), 'behavior_prompt_required');
  refuse(wrongSchedule(version, now), 'invalid_cron_schedule');
  refuse([...wrongContracts(version), ...wrongGuards(version)], 'validation_failed');
  refuse(wrongTemplates(version), 'invalid_template');
}

function throwProblems(errors: FieldProblem[], code: ErrorCode): void {
  const [first] = errors;
  if (first !== undefined) throw new ServiceError(code, `${first.pointer}: ${first.message}`, { errors });
}

function oversize(version: StoredVersion, maxBytes: number): FieldProblem[] {
  const bytes = contentBytes(version);
  if (bytes <= maxBytes) return [];
  const message = `a definition may take at most ${maxBytes} bytes, this one takes ${bytes}`;
  return [fieldProblem('', 'too_large', message)];
}
