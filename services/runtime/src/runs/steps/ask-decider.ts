import { findUnsafeJson, isJsonObject, ServiceError } from '@orrery/contracts';
import type { Decision, Execution, ReadSet, Recalled } from '@orrery/deciding';
import { withinTime } from '@orrery/service-kit';
import {
  type DeciderAnswer,
  DeciderFailed,
  type DeciderRequest,
  type Evidence,
  evidenceOf,
  type RefusedProposal,
  usableModel,
} from '../../core/prompting/model.js';
import type { ItemOutcome } from '../../lane/items/work-item.js';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import type { Briefing } from '../requests/resolve-event.js';
import type { RunDependencies } from '../requests/run-dependencies.js';

/** Calls the decider, at most until the request's deadline, even if it ignores its signal. @throws DeciderFailed */
export async function callDecider(
  { decider, clock }: RunDependencies,
  request: DeciderRequest,
  signal: AbortSignal,
): Promise<DeciderAnswer> {
  const ask = (either: AbortSignal) => decider(request, either);
  try {
    return usable(await withinTime(clock, request.deadline - clock.monotonic(), signal, ask));
  } catch (error) {
    throw error instanceof DeciderFailed ? error : new DeciderFailed(error);
  }
}

/** The answer passes the guard of every entrance; its evidence is made storable, not refused. */
function usable({ mutation, ...evidence }: DeciderAnswer): DeciderAnswer {
  if (!isJsonObject(mutation)) throw invalid('The proposal is no JSON object.', evidence);
  const unsafe = findUnsafeJson(mutation);
  if (unsafe !== undefined) throw invalid(`${unsafe.pointer || 'proposal'}: ${unsafe.message}`, evidence);
  return { mutation, ...evidenceOf(evidence) };
}

const invalid = (detail: string, evidence: Partial<Evidence>) =>
  new DeciderFailed(new ServiceError('ai_output_invalid', detail), evidence);

/** What a decider is given; the check of its proposal is added outside the lane. */
export type UncheckedRequest = Omit<DeciderRequest, 'check'>;

/** What a decider is given of an execution that has read. @throws `ai_model_unavailable` */
export function deciderRequestOf(
  { models, budgets }: RunDependencies,
  { execution, state, briefing }: { execution: Execution; state: DeploymentState; briefing: Briefing },
  read: ReadSet,
  named: Pick<DeciderRequest, 'executionId' | 'deadline' | 'isHolding'>,
): UncheckedRequest {
  const { definition, deployment, event, input } = execution;
  const { id: deploymentId, row } = state;
  const { executionId, deadline } = named;
  const accountId = row.owner_account_id;
  return {
    ...named,
    deployment,
    accountId,
    definition: definition.definition,
    world: briefing.world,
    model: usableModel(models, briefing.modelId),
    input,
    entities: read.entities,
    history: read.history,
    budget: budgets.of({
      executionId,
      deploymentId,
      accountId,
      event,
      dailyBudgetUsd: row.ai_daily_budget_usd,
      deadline,
    }),
  };
}

/** What the follow-ups of a version see of the journal: what its decider was told, however the journal has gone on. */
export const toldOf = ({ definition, history }: UncheckedRequest): Recalled | undefined =>
  definition.followUps === undefined ? undefined : history;

export const withTold = (read: ReadSet, history: Recalled | undefined): ReadSet =>
  history === undefined ? read : { ...read, history };

/** Why a decision on a proposal is refused as invalid output, if it is. */
export function verdictOf(decision: Decision): ItemOutcome<RefusedProposal | undefined> {
  if (decision.kind === 'needs') return { kind: 'needs', needs: decision };
  if (decision.kind !== 'failed' || decision.error.code !== 'ai_output_invalid') return ACCEPTED;
  const { error } = decision;
  return { kind: 'answer', answer: { reason: reasonOf(error), cause: error.cause } };
}

const ACCEPTED = { kind: 'answer', answer: undefined } as const;

/** All that is known to be wrong, one problem a line. */
const reasonOf = ({ message, errors }: ServiceError): string =>
  errors.length < 2 ? message : errors.map((problem) => `${problem.pointer}: ${problem.message}`).join('\n');
