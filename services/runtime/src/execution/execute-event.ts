import {
  asServiceError,
  type Caller,
  type ExecutionTrigger,
  type FieldProblem,
  fieldProblem,
  type JsonObject,
  ServiceError,
} from '@orrery/contracts';
import type { CheckedChanges } from '../journal/change.js';
import type { InstanceView, Needs } from '../state/instance-view.js';
import { applyChanges } from './apply-changes.js';
import { checkEntrySize, checkStates } from './check-changes.js';
import { checkResult } from './check-result.js';
import type { CompiledDefinition } from './compiled-definition.js';
import { decideDirect } from './decide-direct.js';
import { checkGuards } from './guards.js';
import { jsonBytes } from './json-bytes.js';
import type { Proposal } from './proposal.js';
import { type ReadSet, readEntities, type Selection, selectEntities } from './read-entities.js';
import { refuseUnloaded } from './refuse-unloaded.js';

/** One execution of an event, with all that its decision depends on but the instances. */
export interface ExecutionRun {
  definition: CompiledDefinition;
  deployment: { address: string; worldAddress: string };
  event: string;
  input: JsonObject;
  caller: Caller;
  trigger: ExecutionTrigger;
  /** Who signed, outside `/app` null. */
  walletAddress: string | null;
  /** Ms since epoch: the one time that templates see. */
  now: number;
  dryRun: boolean;
}

/** What may happen: checked, and not yet committed. */
export interface Success {
  changes: CheckedChanges;
  result: Proposal['result'];
  reads: ReadSet['reads'];
  /** Schemas read without a filter: any of their instances was read. */
  wholeSchemas: string[];
}

export type Decision =
  /** Something is not in memory: bring it there and decide again. */
  | { kind: 'needs'; instances: Needs['instances']; schemas: string[] }
  /** Before *read*: answered, and leaves no entry. */
  | { kind: 'refused'; error: ServiceError }
  /** From *read* on: leaves a failed entry with this reason. */
  | { kind: 'failed'; error: ServiceError }
  | ({ kind: 'succeeded' } & Success);

/**
 * One execution up to its commit, as a function of its arguments: read → decide → apply → check; the fifth step,
 * commit, is the lane's (decisions §4 "One execution"). A version that asks a model enters at *apply*, with
 * `applyProposal`. Never throws.
 */
export function decideExecution(run: ExecutionRun, instances: InstanceView): Decision {
  const admitted = admit(run);
  if ('error' in admitted) return { kind: 'refused', error: admitted.error };
  return orFailed(() => {
    const found = readEntities(run.definition, admitted.selection, instances);
    if ('needs' in found) return { kind: 'needs', ...found.needs };
    const proposal = decideDirect(run, found.read);
    return applied(run, found.read, proposal, instances);
  });
}

/** *Read* alone, for what decides outside the lane: refusals as in `decideExecution`. Never throws. */
export function readForExecution(
  run: ExecutionRun,
  instances: InstanceView,
): Exclude<Decision, { kind: 'succeeded' }> | { kind: 'read'; read: ReadSet } {
  const admitted = admit(run);
  if ('error' in admitted) return { kind: 'refused', error: admitted.error };
  return orFailed(() => {
    const found = readEntities(run.definition, admitted.selection, instances);
    return 'needs' in found ? { kind: 'needs', ...found.needs } : { kind: 'read', read: found.read };
  });
}

/** Apply → check, for a proposal however it was made. Never throws. */
export const applyProposal = (
  run: ExecutionRun,
  read: ReadSet,
  proposal: Proposal,
  instances: InstanceView,
): Decision => orFailed(() => applied(run, read, proposal, instances));

function applied(run: ExecutionRun, read: ReadSet, proposal: Proposal, instances: InstanceView): Decision {
  const { definition } = run.definition;
  const outcome = applyChanges(run.definition, proposal, instances);
  if ('needs' in outcome) return { kind: 'needs', ...outcome.needs };
  if (proposal.from === 'model') refuseUnloaded(outcome.applied, read);
  checkGuards(definition.guards ?? {}, proposal.from, outcome.applied);
  const changes = checkStates(outcome.applied);
  checkResult(run.definition, proposal.result);
  checkEntrySize(run.input, changes, proposal.result);
  return {
    kind: 'succeeded',
    changes,
    result: proposal.result,
    reads: read.reads,
    wholeSchemas: read.wholeSchemas,
  };
}

/** What is refused before anything is read: nothing to run, or an input that breaks its contract. */
function admit({ definition, input }: ExecutionRun): { selection: Selection } | { error: ServiceError } {
  try {
    if (definition.mutation === 'none') {
      throw new ServiceError(
        'mutation_missing',
        'this version has neither a template nor a behaviour prompt',
      );
    }
    const errors = problemsOf(input, definition);
    if (errors.length > 0) throw invalidInput(errors);
    return { selection: selectEntities(definition.definition.readEntities, input) };
  } catch (error) {
    return { error: asServiceError(error) };
  }
}

/** Bytes of an execution's input as JSON (decisions §8). */
const MAX_INPUT_BYTES = 64 * 1024;

const problemsOf = (input: JsonObject, definition: CompiledDefinition): FieldProblem[] =>
  jsonBytes(input, MAX_INPUT_BYTES) > MAX_INPUT_BYTES
    ? [fieldProblem('', 'too_large', `an input is at most ${MAX_INPUT_BYTES / 1024} KiB`)]
    : definition.problemsOfInput(input);

const invalidInput = (errors: ServiceError['errors']) =>
  new ServiceError('invalid_input', errors[0] && `${errors[0].pointer || 'input'}: ${errors[0].message}`, {
    errors,
  });

function orFailed<T>(decide: () => T): T | { kind: 'failed'; error: ServiceError } {
  try {
    return decide();
  } catch (error) {
    return { kind: 'failed', error: asServiceError(error) };
  }
}
