import type { Bus } from '@orrery/bus';
import {
  accountOf,
  catalogContract,
  type DeploymentSettings,
  type deploymentRpcs,
  type FieldProblem,
  type Handlers,
  type JsonObject,
  paginationOf,
  refuseDeepPage,
  withWarnings,
} from '@orrery/contracts';
import type { Logger, Semaphore } from '@orrery/service-kit';
import { type ModelList, refuseUnknownModel, refuseUnpriced } from '../../core/models/model.js';
import type { CatalogClient } from '../../lane/catalog/catalog-client.js';
import type { OwnedHandler, OwnedHandlers } from '../../lane/ownership/route-to-owner.js';
import type { Lanes } from '../../lane/queue/lanes.js';
import {
  type DeploymentAccess,
  listDeployments,
  type RuntimeLimits,
  refuseLocked,
  toRecord,
} from '../../store/deployments/deployment-directory.js';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import type { Db } from '../../store/tables/schema.js';
import { lackOf, type Receivers, unpayableBound } from '../bindings/binding-warnings.js';
import { changeItem, type DeploymentChange, lockItem, refuseLargeBody } from './change-item.js';

type Rpcs = typeof deploymentRpcs;
type Reads = Pick<Rpcs, 'deployments.list' | 'deployments.get' | 'deployments.relation'>;
type DeploymentWrites = Omit<Rpcs, keyof Reads | 'deployments.create'>;

interface DeploymentDependencies {
  readonly db: Db;
  readonly bus: Pick<Bus, 'call'>;
  /** Bounds how many reads run at once. */
  readonly reading: Semaphore;
  readonly access: Pick<DeploymentAccess, 'visible'>;
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly models: ModelList;
  readonly catalog: Pick<CatalogClient, 'lock' | 'release' | 'version'>;
  readonly payments: Receivers;
  readonly limits: RuntimeLimits;
  readonly logger: Logger;
}

export function deploymentReads({
  db,
  bus,
  access,
  reading,
}: Pick<DeploymentDependencies, 'db' | 'bus' | 'reading'> & {
  access: Pick<DeploymentAccess, 'visible' | 'see'>;
}): Handlers<Reads> {
  return {
    'deployments.list': async ({ params, query }, call) => {
      refuseDeepPage(query);
      const request = { params: { idOrAddress: params.worldAddress }, query: {}, headers: {}, body: {} };
      const { data: world } = await bus.call(catalogContract.rpcs['worlds.get'], request, call);
      const list = () => listDeployments(db, world.id, accountOf(call.caller), query);
      const { rows, total } = await reading.run(call.signal, list);
      return { data: rows.map(toRecord), pagination: paginationOf(query, total) };
    },
    'deployments.get': async ({ params }, { caller, signal }) => ({
      data: toRecord(await reading.run(signal, () => access.visible(params, caller))),
    }),
    'deployments.relation': async ({ params }, { caller, signal }) => {
      const { address, isOwner } = await reading.run(signal, () => access.see(params, caller));
      return { address, relation: isOwner ? 'owner' : 'visible' };
    },
  };
}

const set =
  (column: 'is_public' | 'owner_paused', on: boolean, kind: DeploymentChange['kind']) =>
  (state: DeploymentState): DeploymentChange | undefined =>
    state.row[column] === on ? undefined : { kind, facts: {}, columns: { [column]: on } };

type Action = OwnedHandler<DeploymentWrites['deployments.publish']>;

export function deploymentWrites(dependencies: DeploymentDependencies): OwnedHandlers<DeploymentWrites> {
  const { lanes, models, catalog, payments, limits, logger } = dependencies;
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
    'deployments.update': async (deployment, { body }, call) => {
      refuseLargeBody(body, limits);
      const decide = (state: DeploymentState) => {
        const settings = withoutLockedModel(state, body);
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
      const message = withWarnings(warnings);
      return { data: record, ...(message !== undefined && { message }) };
    },
    'deployments.delete': async (deployment, _request, call) => {
      await lanes.submit(
        changeItem(deployment, call, (state, at) => {
          refuseLocked(state.row);
          return { kind: 'deleted', facts: {}, columns: { deleted_at: at } };
        }),
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
    'deployments.lock': async (deployment, _request, call) => {
      const { record, changed } = await lanes.submit(lockItem(dependencies, deployment, call));
      return { data: record, message: changed ? 'Deployment locked' : 'Deployment is already locked' };
    },
    'deployments.publish': async (deployment, _request, call) => {
      let warnings: readonly FieldProblem[] = [];
      const prepare = async (state: DeploymentState) => {
        warnings = await warningsOf(state, state.row.pay_to_address, '');
      };
      const publish = changeItem(deployment, call, set('is_public', true, 'published'), prepare);
      const { record, changed } = await lanes.submit(publish);
      const done = changed ? 'Deployment published successfully' : 'Deployment is already public';
      return { data: record, message: withWarnings(warnings, warnings.length > 0 ? `${done}.` : done) };
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
    'deployments.resume': action(
      set('owner_paused', false, 'resumed'),
      'Deployment resumed',
      'Deployment is not paused',
    ),
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
    ...(given.payToAddress !== undefined && { pay_to_address: given.payToAddress }),
  };
  if (Object.keys(columns).length === 0) return undefined;
  // Parsed JSON has no undefined members.
  return { kind: 'settings_updated', facts: given as JsonObject, columns };
}
