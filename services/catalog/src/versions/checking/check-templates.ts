import type { FieldProblem } from '@orrery/contracts';
import {
  CRON_TEMPLATE_NAMES,
  compileTemplate,
  DIRECT_TEMPLATE_NAMES,
  findBrokenChanges,
} from '@orrery/expressions';
import type { StoredVersion } from '../stored-version.js';
import { below } from './below.js';

/** Every placeholder parses and names only what there will be; every operator is known, every change has its key. */
export function wrongTemplates({ mutationSettings, executionSettings }: StoredVersion): FieldProblem[] {
  const { template } = mutationSettings ?? {};
  const input = executionSettings?.cron?.input;
  const direct =
    template === undefined
      ? undefined
      : compileTemplate(template, { names: DIRECT_TEMPLATE_NAMES, mutation: true });
  const cron = input === undefined ? undefined : compileTemplate(input, { names: CRON_TEMPLATE_NAMES });
  return [
    ...(direct?.ok === false ? below('/mutationSettings/template', direct.problems) : []),
    ...(direct?.ok && template ? below('/mutationSettings/template', findBrokenChanges(template)) : []),
    ...(cron?.ok === false ? below('/executionSettings/cron/input', cron.problems) : []),
  ];
}
