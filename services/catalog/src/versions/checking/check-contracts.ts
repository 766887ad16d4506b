import { type FieldProblem, fieldProblem } from '@orrery/contracts';
import { compileContract, contractCoversPath } from '@orrery/expressions';
import type { StoredVersion } from '../stored-version.js';
import { below } from './below.js';

/** Input and output must compile, and what a filter reads must be in the input. */
export function wrongContracts({ inputSchema, outputSchema, readEntities }: StoredVersion): FieldProblem[] {
  const input = inputSchema === null ? undefined : compileContract(inputSchema);
  const output = outputSchema === null ? undefined : compileContract(outputSchema);
  const problems = [
    ...(input?.ok === false ? below('/inputSchema', input.problems) : []),
    ...(output?.ok === false ? below('/outputSchema', output.problems) : []),
  ];
  if (input?.ok !== true) return problems;
  const { contract } = input;
  const uncovered = readEntities.flatMap(({ filter = [] }, entity) =>
    filter.flatMap((path, index) =>
      contractCoversPath(contract, path) ? [] : [notCovered(`/readEntities/${entity}/filter/${index}`, path)],
    ),
  );
  return [...problems, ...uncovered];
}

const notCovered = (pointer: string, path: string): FieldProblem =>
  fieldProblem(pointer, 'path_not_in_input', `the inputSchema has no "${path.slice(0, 100)}"`);
