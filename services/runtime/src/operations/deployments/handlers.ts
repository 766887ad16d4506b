import {
  accountOf,
  type CallContext,
  catalogContract,
  type DeploymentRecord,
  type DeploymentSettings,
  type deploymentRpcs,
  type FieldProblem,
  fieldProblem,
  type Handlers,
  type JournalKind,
  type JsonObject,
  refusal,
  refuseChanged,
  refuseDeepPage,
  ServiceError,
  tagged,
  type VersionDefinition,
  type WorldTexts,
  withWarnings,
} from '@orrery/contracts';
import { lifecycleEntry } from '../../core/deciding/lifecycle-entry.js';
import {
  defaultModelId,
  type ModelList,
  refuseUnknownModel,
  refuseUnpriced,
} from '../../core/prompting/model.js';
import type { ItemOutcome, WorkItem } from '../../lane/items/work-item.js';
import type { OwnedHandler, OwnedHandlers } from '../../lane/ownership/route-to-owner.js';
import type { Effects, SettingsColumns } from '../../store/commit/effects.js';
import {
  type KnownDeployment,
  refuseLocked,
  refuseWhatIf,
  toRecord,
} from '../../store/deployments/deployment-directory.js';
import { listDeployments, paginationOfCounted } from '../../store/deployments/list-deployments.js';
import { endPlace } from '../../store/leases/places.js';
import { type DeploymentState, lockedColumns, lockedDefinition } from '../../store/state/deployment-state.js';
import { type BodyLimits, lackOf, listProblems, unpayableBound } from '../bindings/binding-rules.js';
import type { RuntimeContext } from '../context.js';
import { recordFor } from './record-for.js';
import { revealItem, revelationOf } from './reveal-randomness.js';

type Rpcs = typeof deploymentRpcs;
type Reads = Pick<Rpcs, 'deployments.list' | 'deployments.get' | 'deployments.relation'>;
type DeploymentWrites = Omit<Rpcs, keyof Reads | 'deployments.create'>;

export const deploymentReads = ({ db, bus, access, reading }: RuntimeContext): Handlers<Reads> => ({
  'deployments.list': async ({ params, query }, call) => {
    refuseDeepPage(query);
    const request = { params: { idOrAddress: params.worldAddress }, query: {}, headers: {}, body: {} };
    const { data: world } = await bus.call(catalogContract.rpcs['worlds.get'], request, call);
    const accountId = accountOf(call.caller);
    const list = () => listDeployments(db, { worldId: world.id, accountId }, query);
    const { rows, total } = await reading.run(call.signal, list);
    return {
      data: rows.map((row) => recordFor(accountId, row)),
      pagination: paginationOfCounted(query, total),
    };
  },
  'deployments.get': async ({ params }, { caller, signal }) => {
    const row = await reading.run(signal, () => access.visible(params, caller));
    return tagged(recordFor(accountOf(caller), row));
  },
  'deployments.relation': async ({ params }, { caller, signal }) => {
    const { address, isOwner } = await reading.run(signal, () => access.see(params, caller));
    return { address, relation: isOwner ? 'owner' : 'visible' };
  },
});

const set =
  (column: 'is_public' | 'owner_paused', on: boolean, kind: DeploymentChange['kind']) =>
  (state: DeploymentState): DeploymentChange | undefined =>
    state.row[column] === on ? undefined : { kind, facts: {}, columns: { [column]: on } };

const PAUSED_BY_OPERATOR = 'The operator of the service keeps the deployment paused, and alone can resume it';

type Action = OwnedHandler<DeploymentWrites['deployments.publish']>;

export function deploymentWrites(context: RuntimeContext): OwnedHandlers<DeploymentWrites> {
  const { lanes, models, catalog, payments, limits, logger } = context;
  const warningsOf = (state: DeploymentState, payToAddress: string | null, pointer: string) =>
    unpayableBound(catalog, state, lackOf(payToAddress, payments), pointer);
  const action =
    (
      decide: (state: DeploymentState) => DeploymentChange | undefined,
      done: string,
      already: string,
    ): Action =>
    async (deployment, _request, call) => {
      const { record, changed } = await lanes.submit(changeItem(deployment, call, decide));
      return { data: record, message: changed ? done : already };
    };
  return {
    'deployments.update': async (deployment, { headers, body }, call) => {
      refuseLargeBody(body, limits);
      const decide = (state: DeploymentState) => {
        refuseChanged(headers['if-match'], toRecord(state.row));
        const settings = withoutLockedModel(state, body);
        refuseKeeping(state, settings);
        refuseUnknownModel(models, settings.aiModelId);
        refuseUnpricedBudget(models, state, settings);
        return settingsOf(settings);
      };
      let warnings: readonly FieldProblem[] = [];
      const prepare = async (state: DeploymentState) => {
        if (body.payToAddress !== undefined)
          warnings = await warningsOf(state, body.payToAddress, '/payToAddress');
      };
      const { record } = await lanes.submit(changeItem(deployment, call, decide, prepare));
      return { ...tagged(record), ...withWarnings(warnings) };
    },
    'deployments.delete': async (deployment, _request, call) => {
      await lanes.submit(
        changeItem(deployment, call, (state, at) => {
          refuseLocked(state.row);
          // The journal ends here, so it tells all that its draws were made of.
          const before = revelationOf(context.randomnessKeys, state, call.caller, at.getTime())?.effects;
          return { kind: 'deleted', facts: {}, columns: { deleted_at: at }, before };
        }),
      );
      if (!context.homes.isOnly())
        await endPlace(context.homes.directory, deployment.id).catch((error: unknown) =>
          logger.info({ err: error }, 'the place of a deleted deployment is ended by the next comparison'),
        );
      await catalog
        .release(deployment.address)
        .catch((error: unknown) =>
          logger.info(
            { err: error },
            'releasing the claims of a deleted deployment failed; the sweep releases them',
          ),
        );
      return { data: { deleted: true } };
    },
    'deployments.revealRandomness': async (deployment, _request, call) => {
      const data = await lanes.submit(revealItem(context.randomnessKeys, deployment, call));
      return { data, message: data.seq === null ? 'There is nothing to reveal' : 'Secrets revealed' };
    },
    'deployments.lock': async (deployment, _request, call) => {
      const { record, changed } = await lanes.submit(lockItem(context, deployment, call));
      return { data: record, message: changed ? 'Deployment locked' : 'Deployment is already locked' };
    },
    'deployments.publish': async (deployment, _request, call) => {
      let warnings: readonly FieldProblem[] = [];
      const prepare = async (state: DeploymentState) => {
        warnings = await warningsOf(state, state.row.pay_to_address, '');
      };
      const decide = (state: DeploymentState) => {
        refuseWhatIf(state.row);
        return set('is_public', true, 'published')(state);
      };
      const publish = changeItem(deployment, call, decide, prepare);
      const { record, changed } = await lanes.submit(publish);
      const done = changed ? 'Deployment published successfully' : 'Deployment is already public';
      return { data: record, ...withWarnings(warnings, done) };
    },
    'deployments.unpublish': action(
      set('is_public', false, 'unpublished'),
      'Deployment is no longer public',
      'Deployment is not public',
    ),
    'deployments.pause': action(
      set('owner_paused', true, 'paused'),
      'Deployment paused',
      'Deployment is already paused',
    ),
    'deployments.resume': async (deployment, _request, call) => {
      const resume = changeItem(deployment, call, set('owner_paused', false, 'resumed'));
      const { record, changed } = await lanes.submit(resume);
      const done = changed ? 'Deployment resumed' : 'Deployment is not paused';
      return { data: record, message: record.isPaused ? PAUSED_BY_OPERATOR : done };
    },
  };
}

function refuseUnpricedBudget(
  models: ModelList,
  { row }: DeploymentState,
  { aiModelId = row.ai_model_id, aiDailyBudgetUsd }: DeploymentSettings,
): void {
  if (aiDailyBudgetUsd !== undefined)
    refuseUnpriced(models, aiModelId, aiDailyBudgetUsd, '/aiDailyBudgetUsd');
  else if (aiModelId !== row.ai_model_id)
    refuseUnpriced(models, aiModelId, row.ai_daily_budget_usd, '/aiModelId');
}

/** @throws `what_if_only` */
function refuseKeeping({ row }: DeploymentState, { isKept }: DeploymentSettings): void {
  if (isKept !== undefined && row.is_kept === null)
    throw new ServiceError(
      'what_if_only',
      'Any other deployment stays until its owner deletes it: leave `isKept` out.',
    );
}

/** A locked model may be named again, also when it is not offered any more. @throws `deployment_locked` for another one */
function withoutLockedModel({ row }: DeploymentState, given: DeploymentSettings): DeploymentSettings {
  const { aiModelId, ...others } = given;
  if (aiModelId === undefined || row.mode !== 'locked') return given;
  if (aiModelId !== row.ai_model_id) refuseLocked(row);
  return others;
}

/** An absent field stays as it is, null removes it. */
function settingsOf(given: DeploymentSettings): DeploymentChange | undefined {
  const columns = {
    ...(given.name !== undefined && { name: given.name }),
    ...(given.description !== undefined && { description: given.description }),
    ...(given.aiModelId !== undefined && { ai_model_id: given.aiModelId }),
    ...(given.aiDailyBudgetUsd !== undefined && { ai_daily_budget_usd: given.aiDailyBudgetUsd }),
    ...(given.isLLMPublic !== undefined && { is_llm_public: given.isLLMPublic }),
    ...(given.isCodePublic !== undefined && { is_code_public: given.isCodePublic }),
    ...(given.payToAddress !== undefined && { pay_to_address: given.payToAddress }),
    ...(given.isKept !== undefined && { is_kept: given.isKept }),
  };
  if (Object.keys(columns).length === 0) return undefined;
  // Parsed JSON has no undefined members.
  return { kind: 'settings_updated', facts: given as JsonObject, columns };
}

/** Locks the versions in the catalog first, so a repeated lock completes one that was interrupted. */
export function lockItem(
  { catalog, models }: Pick<RuntimeContext, 'catalog' | 'models'>,
  deployment: KnownDeployment,
  call: CallContext,
): WorkItem<Changed> {
  let locked: { definitions: VersionDefinition[]; world: WorldTexts } | undefined;
  const prepare = async (state: DeploymentState) => {
    const bound = [...state.bindings.values()];
    locked = state.row.mode === 'locked' ? undefined : await catalog.lock(deployment.worldId, bound);
  };
  return changeItem(
    deployment,
    call,
    (state, at) => {
      if (state.row.mode === 'locked') return undefined;
      refuseWhatIf(state.row);
      if (locked === undefined || !coversAll(locked.definitions, state)) return 'prepare';
      const modelId = state.row.ai_model_id ?? defaultModelId(models);
      const definition = lockedDefinition(locked.definitions, locked.world, modelId);
      const columns = lockedColumns(definition, at);
      return { kind: 'locked', facts: { definitionHash: columns.definition_hash }, columns };
    },
    prepare,
  );
}

/** Exactly the bound versions: a binding may have changed meanwhile. */
function coversAll(definitions: readonly VersionDefinition[], { bindings }: DeploymentState): boolean {
  const locked = new Set(definitions.map(({ versionId }) => versionId));
  return (
    bindings.size === locked.size && [...bindings.values()].every(({ versionId }) => locked.has(versionId))
  );
}

/** A change of a deployment's own row, and the facts of its journal entry. */
interface DeploymentChange {
  readonly kind: JournalKind;
  readonly facts: JsonObject;
  readonly columns: SettingsColumns;
  /** Another entry, right before its own. */
  readonly before?: Effects | undefined;
}

interface Changed {
  readonly record: DeploymentRecord;
  readonly changed: boolean;
}

/**
 * A change of the deployment itself. `decide` answers `undefined` when nothing is to change, `prepare` when the
 * preparation no longer fits, and throws the error that forbids the change.
 */
export function changeItem(
  deployment: KnownDeployment,
  { deadline, signal, caller }: CallContext,
  decide: (state: DeploymentState, at: Date) => DeploymentChange | 'prepare' | undefined,
  prepare: (state: DeploymentState) => Promise<void> | void = () => undefined,
): WorkItem<Changed> {
  return {
    deploymentId: deployment.id,
    deadline,
    signal,
    prepare,
    decide: (state, _ids, now): ItemOutcome<Changed> => {
      const at = new Date(now);
      const change = decide(state, at);
      if (change === 'prepare') return { kind: 'prepare' };
      if (change === undefined)
        return { kind: 'answer', answer: { record: toRecord(state.row), changed: false } };
      const entry = lifecycleEntry(change.kind, deployment.address, caller, now, change.facts);
      const row = { ...change.columns, updated_at: at };
      return {
        kind: 'commit',
        effects: { entry, row, before: change.before },
        answer: () => ({ reply: { record: toRecord(state.row), changed: true } }),
      };
    },
  };
}

/** Holds a body to the operator's limits. @throws ServiceError `validation_failed` with pointers */
export function refuseLargeBody(
  { description, bindings = [] }: { description?: string | null | undefined; bindings?: readonly unknown[] },
  limits: BodyLimits,
): void {
  const problems = [
    ...descriptionProblems(description ?? '', limits),
    ...listProblems(bindings, '/bindings', limits),
  ];
  if (problems.length > 0) throw refusal(problems, 'The body');
}

function descriptionProblems(description: string, { descriptionBytes }: BodyLimits): FieldProblem[] {
  if (Buffer.byteLength(description) <= descriptionBytes) return [];
  const message = `A description may have at most ${descriptionBytes / 1024} KiB.`;
  return [fieldProblem('/description', 'too_large', message)];
}
