import {
  asServiceError,
  type ErrorCode,
  EVALUATOR,
  type Evaluator,
  type FieldProblem,
  fieldProblem,
  type JsonObject,
  type Recorded,
  ServiceError,
} from '@orrery/contracts';
import { applyChanges, decideDirect, type Proposal, proposalOf, templateScope } from './apply-proposal.js';
import {
  checkEntrySize,
  checkGuards,
  checkInstanceCount,
  checkResult,
  checkStates,
  jsonBytes,
  refuseUnloaded,
} from './check-changes.js';
import { type Drawing, startDrawing } from './drawing.js';
import type { CompiledDefinition, Decision, Execution, InstanceView, ReadSet } from './execution.js';
import { planFollowUps } from './follow-ups.js';
import { inRequest, readEntities, type Selection, selectEntities } from './read-entities.js';
import { historySearch, recall } from './read-history.js';

/**
 * Decides one execution as a pure function of its arguments: read → decide → apply → check. The fifth step, commit,
 * belongs to the lane (docs/execution.md). An execution that a decider decides outside the lane uses `readForExecution`
 * before the decider is called and `applyMutation` after it. Never throws.
 */
export function decideExecution(execution: Execution, instances: InstanceView): Decision {
  const found = readForExecution(execution, instances);
  if (found.kind !== 'read') return found;
  const recalled = recallFor(execution, found.read, instances);
  if (recalled.kind !== 'read') return recalled;
  const { read } = recalled;
  const drawing = drawingOf(execution);
  const decision = orFailed(() => {
    const proposal = decideDirect(execution, read, drawing?.draws);
    return applyAndCheck(execution, read, proposal, instances, drawing);
  });
  const remembered = read.history && { readHistoryHash: read.history.hash };
  return withRecorded(decision, { ...remembered, ...drawing?.recorded() });
}

/** Undefined: nothing is drawn. */
const drawingOf = ({ randomness }: Execution): Drawing | undefined => randomness && startDrawing(randomness);

/** What an entry says of its decision, however that ended. */
function withRecorded(decision: Decision, recorded: Recorded): Decision {
  const isEntry = decision.kind === 'succeeded' || decision.kind === 'failed';
  return isEntry && Object.keys(recorded).length > 0 ? { ...decision, recorded } : decision;
}

/**
 * Adds to what was read what the execution remembers of the journal, as it stands before its own entry. A model is given it
 * when it is asked, and it is not read again to apply the answer. Never throws.
 */
export function recallFor(
  { definition: { definition }, seen }: Execution,
  read: ReadSet,
  { recent }: InstanceView,
): Extract<Decision, { kind: 'needs' | 'failed' }> | { readonly kind: 'read'; readonly read: ReadSet } {
  const { readHistory } = definition;
  if (readHistory === undefined) return { kind: 'read', read };
  return orFailed(() => {
    const search = historySearch(readHistory, read.reads, seen?.replays);
    const found = recent.find(search);
    if (found === undefined) return { kind: 'needs', instances: [], schemas: [], history: search };
    return { kind: 'read', read: { ...read, history: recall(found) } };
  });
}

/** *Read* alone. Refuses what `decideExecution` refuses. Never throws. */
export function readForExecution(
  execution: Execution,
  instances: InstanceView,
): Exclude<Decision, { kind: 'succeeded' }> | { readonly kind: 'read'; readonly read: ReadSet } {
  const admitted = admit(execution);
  if ('error' in admitted) return { kind: 'refused', error: admitted.error };
  return orFailed(() => {
    const found = readEntities(execution.definition, admitted.selection, instances);
    return 'needs' in found ? { kind: 'needs', ...found.needs } : { kind: 'read', read: found.read };
  });
}

/** *Apply* and *check*, for a proposal however it was made. Never throws. */
export const applyProposal = (
  execution: Execution,
  read: ReadSet,
  proposal: Proposal,
  instances: InstanceView,
): Decision => {
  const drawing = drawingOf(execution);
  const decision = orFailed(() => applyAndCheck(execution, read, proposal, instances, drawing));
  return withRecorded(decision, { ...drawing?.recorded() });
};

/**
 * *Apply* and *check*, for the mutation that a decider proposes. One that is refused for what it holds is an invalid output
 * of the model: the decision fails with `ai_output_invalid`, whose fact `refusal` is the code of the refusal. Any other
 * refusal, for instance by a limit of the deployment, is left as it is. Never throws.
 */
export function applyMutation(
  execution: Execution,
  read: ReadSet,
  mutation: JsonObject,
  instances: InstanceView,
): Decision {
  const drawing = drawingOf(execution);
  const decided = orFailed(() => {
    const proposal = proposalOf(mutation, 'model', execution.evaluator);
    return applyAndCheck(execution, read, proposal, instances, drawing);
  });
  const decision = withRecorded(decided, { ...drawing?.recorded() });
  return decision.kind === 'failed' ? { ...decision, error: invalidOutput(decision.error) } : decision;
}

/** Refusals of what a proposal holds: another answer of the model may be accepted (docs/ai.md). */
const FAULTS_OF_OUTPUT: ReadonlySet<ErrorCode> = new Set([
  'change_not_allowed',
  'change_too_large',
  'invalid_change_key',
  'invalid_result',
  'invalid_follow_up',
  'invalid_state',
  'template_failed',
]);

function invalidOutput(refusal: ServiceError): ServiceError {
  const { code, message, errors, facts, cause } = refusal;
  if (!FAULTS_OF_OUTPUT.has(code)) return refusal;
  return new ServiceError('ai_output_invalid', message, {
    errors,
    facts: { ...facts, refusal: code },
    cause,
  });
}

function applyAndCheck(
  execution: Execution,
  read: ReadSet,
  proposal: Proposal,
  instances: InstanceView,
  drawing: Drawing | undefined,
): Decision {
  const { definition, input, instanceCount, limits, evaluator } = execution;
  const { reads, wholeSchemas } = read;
  const { result, from } = proposal;
  const outcome = applyChanges(definition, proposal, instances);
  if ('needs' in outcome) return { kind: 'needs', ...outcome.needs };
  if (from === 'model') refuseUnloaded(outcome.applied, reads);
  checkGuards(definition.definition.guards ?? {}, from, outcome.applied);
  const told = { showsValues: from === 'template', evaluator };
  const changes = checkStates(outcome.applied, limits, told);
  checkResult(definition, result, told);
  checkEntrySize(input, changes, result, limits);
  checkInstanceCount(changes, instanceCount);
  const decision = { kind: 'succeeded', changes, result, reads, wholeSchemas } as const;
  if (definition.followUps.length === 0) return decision;
  const scope = { ...templateScope(execution, read), result };
  const { now } = execution.seen ?? execution;
  const followUps = planFollowUps(definition.followUps, scope, now, limits.inputBytes, {
    draws: drawing?.draws,
    evaluator,
  });
  return { ...decision, followUps };
}

/** What is refused before anything is read: a version that cannot run, or an input that breaks its contract. */
function admit({
  definition,
  input,
  limits,
  evaluator,
}: Execution): { selection: Selection } | { error: ServiceError } {
  try {
    if (definition.mutation === 'none') {
      const detail = 'This version has neither a template nor a behaviour prompt.';
      throw new ServiceError('mutation_missing', detail);
    }
    refuseInput(definition, input, limits, evaluator);
    return { selection: selectEntities(definition.definition.readEntities, input, evaluator) };
  } catch (error) {
    return { error: asServiceError(error) };
  }
}

/** @throws `invalid_input` for what breaks the contract, or is too large */
export function refuseInput(
  definition: CompiledDefinition,
  input: JsonObject,
  limits: Execution['limits'],
  evaluator: Evaluator = EVALUATOR,
): void {
  const errors = problemsOf(input, definition, limits, evaluator);
  if (errors.length > 0) throw invalidInput(errors);
}

const problemsOf = (
  input: JsonObject,
  definition: CompiledDefinition,
  { inputBytes: most }: Execution['limits'],
  evaluator: Evaluator,
): FieldProblem[] =>
  jsonBytes(input, most) > most
    ? [fieldProblem('/input', 'too_large', `An input has at most ${most / 1024} KiB.`)]
    : definition.problemsOfInput(input, { showsValues: true, evaluator }).map(inRequest);

const invalidInput = (errors: ServiceError['errors']) =>
  new ServiceError('invalid_input', errors[0] && `${errors[0].pointer}: ${errors[0].message}`, { errors });

function orFailed<T>(decide: () => T): T | { kind: 'failed'; error: ServiceError } {
  try {
    return decide();
  } catch (error) {
    return { kind: 'failed', error: asServiceError(error) };
  }
}
