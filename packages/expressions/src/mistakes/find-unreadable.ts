import { didYouMean, type FieldProblem, fieldProblem, toNfc } from '@orrery/contracts';
import { sizeHint } from '../cel/hints/other-languages.js';
import { quoted } from '../messages/error-text.js';
import type { CompiledContract } from '../schemas/compile-contract.js';
import { firstMissingStep, type MissingStep } from '../schemas/covers-path.js';
import type { TemplateReference } from './template-references.js';

/** Reads of the input, `{{ input.x }}`, that no input which fits the contract can hold. */
export const findUndeclaredInputs = (
  references: readonly TemplateReference[],
  contract: CompiledContract,
): FieldProblem[] =>
  references
    .filter(({ root }) => root === 'input')
    .flatMap((reference) => {
      const steps = writtenSteps(reference);
      const missing = firstMissingStep(contract, steps);
      // A key that is not there as written is looked up in NFC.
      if (missing === undefined || firstMissingStep(contract, steps.map(toNfc)) === undefined) return [];
      return [problemAt(reference, 'path_not_in_input', undeclared(steps, missing))];
    });

/** The keys up to the first computed one. */
function writtenSteps({ steps }: TemplateReference): string[] {
  const computed = steps.indexOf(undefined);
  return steps.slice(0, computed < 0 ? steps.length : computed).filter((step) => step !== undefined);
}

function undeclared(steps: readonly string[], { index, declared }: MissingStep): string {
  const [key = ''] = steps.slice(index);
  const path = steps.slice(0, index + 1).join('.');
  const isPart = index > 0 && declared.length === 0;
  const size = isPart ? sizeHint(key, ['input', ...steps.slice(0, index)].join('.')) : '';
  return `The inputSchema has no "${quoted(path)}".${didYouMean(key, declared)}${size}`;
}

/** Reads of `entities.<schema>` where `readEntities` does not read the schema, so that it is not there. */
export const findUnreadEntities = (
  references: readonly TemplateReference[],
  read: readonly string[],
): FieldProblem[] =>
  references.flatMap((reference) => {
    const [schema] = reference.steps;
    if (reference.root !== 'entities' || schema === undefined || read.includes(toNfc(schema))) return [];
    return [problemAt(reference, 'entities_not_read', unread(schema, read))];
  });

function unread(schema: string, read: readonly string[]): string {
  const name = quoted(schema);
  const meant = didYouMean(schema, read);
  const advice = meant === '' ? ` Add { "schema": "${name}" } to readEntities.` : meant;
  return `Nothing is read of "${name}": readEntities does not name it.${advice}`;
}

const problemAt = ({ pointer, position }: TemplateReference, code: string, message: string): FieldProblem =>
  fieldProblem(pointer, code, `${position}: ${message}`);
