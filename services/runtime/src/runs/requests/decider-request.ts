import {
  canonicalHash,
  findUnsafeJson,
  isJsonObject,
  type JsonObject,
  ServiceError,
} from '@orrery/contracts';
import { type Clock, withinTime } from '@orrery/service-kit';
import type { Decision, Execution, ReadSet, Success } from '../../core/deciding/execution.js';
import { changeKey } from '../../core/entries/entry.js';
import {
  type Decider,
  type DeciderAnswer,
  DeciderFailed,
  type DeciderRequest,
  type Evidence,
  evidenceOf,
  usableModel,
} from '../../core/models/model.js';
import type { ItemOutcome } from '../../lane/items/work-item.js';
import type { DeploymentState, Holds } from '../../store/state/deployment-state.js';
import type { Briefing, Resolved, RunDependencies } from './resolve-event.js';

/** Calls the decider, at most until the request's deadline, even if it ignores its signal. @throws DeciderFailed */
export async function callDecider(
  decider: Decider,
  request: DeciderRequest,
  clock: Clock,
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

/** Why a decision on a proposal is refused as invalid output, if it is. */
export function verdictOf(decision: Decision): ItemOutcome<string | undefined> {
  if (decision.kind === 'needs') return { kind: 'needs', needs: decision };
  const isInvalid = decision.kind === 'failed' && decision.error.code === 'ai_output_invalid';
  return { kind: 'answer', answer: isInvalid ? reasonOf(decision.error) : undefined };
}

/** All that is known to be wrong, one problem a line. */
const reasonOf = ({ message, errors }: ServiceError): string =>
  errors.length < 2 ? message : errors.map((problem) => `${problem.pointer}: ${problem.message}`).join('\n');

/**
 * What a decision was made on. `hash` covers the data read from the deployment. The world's texts and the model stand
 * beside it: the previous release stored and compares `hash` alone.
 */
export interface ReadFingerprint {
  readonly hash: string;
  /** The hash of the world's texts. */
  readonly world: string;
  readonly modelId: string | null;
}

/**
 * The fingerprint of the binding, the definition, the deployment's mode, each instance read (its revision and its row's
 * id, since a re-created instance starts again at revision 1), the schemas read whole, the world's texts and the model.
 * When it is the same again, nothing of that has changed.
 */
export function fingerprintOf(
  { binding, definition }: Resolved,
  {
    row,
    instances,
  }: Pick<DeploymentState, 'instances'> & { readonly row: Pick<DeploymentState['row'], 'mode'> },
  { reads, wholeSchemas }: Pick<ReadSet, 'reads' | 'wholeSchemas'>,
  { world, modelId }: Briefing,
): ReadFingerprint {
  const read = reads.map(({ entitySchema, instanceId, revision }) => [
    changeKey({ entitySchema, instanceId }),
    revision,
    instances.get(entitySchema, instanceId)?.id ?? 0,
  ]);
  const hash = canonicalHash({
    binding: [binding.id, binding.versionId, binding.updatedAt.toISOString()],
    definition: definition.definition.hash,
    mode: row.mode,
    read: read.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    wholeSchemas: [...wholeSchemas].sort(),
  });
  return { hash, world: world.hash, modelId };
}

/** Whether a stored fingerprint (the column `basis`) still fits. */
export const stillFits = (stored: JsonObject | null, now: ReadFingerprint): boolean =>
  stored !== null &&
  Object.entries(now).every(([part, value]) => !(part in stored) || stored[part] === value);

/** What must not change so that a decision on it stays fresh. */
export const holdsOf = ({ reads, wholeSchemas }: Pick<Success, 'reads' | 'wholeSchemas'>): Holds => ({
  instances: reads.filter(({ entitySchema }) => !wholeSchemas.includes(entitySchema)).map(changeKey),
  schemas: [...wholeSchemas],
});
