import type { Bus } from '@orrery/bus';
import {
  accountOf,
  type CallContext,
  catalogContract,
  type deploymentRpcs,
  type FieldProblem,
  type Handlers,
  newAddress,
  type ReplyOf,
  type RequestOf,
  ServiceError,
  withWarnings,
} from '@orrery/contracts';
import {
  answerOnce,
  findAnswer,
  keyedRequest,
  type TransactionOptions,
  toCallError,
  transaction,
} from '@orrery/database';
import { learnAccount } from '@orrery/service-host';
import type { Clock } from '@orrery/service-kit';
import {
  defaultModelId,
  type ModelList,
  refuseUnknownModel,
  refuseUnpriced,
} from '../../core/models/model.js';
import type { CatalogClient } from '../../lane/catalog/catalog-client.js';
import { isKnown, refuseOverQuota, storeAccount } from '../../store/deployments/account-store.js';
import { SourceChanged } from '../../store/deployments/copy-source.js';
import { toRecord } from '../../store/deployments/deployment-directory.js';
import { type DeploymentPlan, insertDeployment } from '../../store/deployments/insert-deployment.js';
import type { NewBinding } from '../../store/state/bindings.js';
import { type LockedDefinition, lockedDefinition } from '../../store/state/deployment-state.js';
import { newBindings } from '../bindings/binding-rules.js';
import { bindingWarnings, lackOf, type Receivers } from '../bindings/binding-warnings.js';
import { refuseLargeBody } from './change-item.js';
import { type CloneDependencies, claimCopies, findCloneSource } from './clone-source.js';

type Creation = (typeof deploymentRpcs)['deployments.create'];

interface CreationDependencies extends CloneDependencies {
  readonly bus: Pick<Bus, 'call'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly catalog: CloneDependencies['catalog'] & Pick<CatalogClient, 'lock'>;
  readonly models: ModelList;
  readonly payments: Receivers;
  /** Publishes the first entry of a deployment that was committed. */
  readonly announceCreation: (deployment: string) => void;
}

export const creationHandlers = (
  dependencies: CreationDependencies,
): Handlers<Pick<typeof deploymentRpcs, 'deployments.create'>> => ({
  'deployments.create': (request, call) => createDeployment(dependencies, request, call),
});

/**
 * Claims the world and the versions under the new address, then commits the deployment with the first entry of its
 * journal. No caller knows the address before that, so no lane is involved. The sweep removes the claims of a creation
 * that fails. A lock is final, so it comes last, after the quota and the limits.
 */
async function createDeployment(
  dependencies: CreationDependencies,
  request: RequestOf<Creation>,
  call: CallContext,
): Promise<ReplyOf<Creation>> {
  const keyed = keyedRequest(
    `create ${request.params.worldAddress.toLowerCase()}`,
    request.headers['idempotency-key'],
    request.body,
    call.caller,
    dependencies.clock.now(),
  );
  const answer = keyed && (await findAnswer(dependencies.db, keyed));
  // Stored by this very operation.
  if (answer !== undefined) return told(answer as Stored);
  const created = await untilUnchanged(async () => {
    const plan = await planDeployment(dependencies, request, call);
    return transaction(
      dependencies.db,
      (trx) =>
        answerOnce(trx, keyed, async () => {
          const message = withWarnings(warningsOf(plan, dependencies.payments));
          const record = toRecord(await insertDeployment(trx, plan, call.caller, dependencies.limits));
          return { ...record, ...(message !== undefined && { message }) };
        }),
      { ...(plan.copies && COPYING), signal: call.signal },
    );
  });
  dependencies.announceCreation(created.address);
  return told(created);
}

/** The record and the message as one object, which is what is stored under a key: the record alone without a message. */
type Stored = ReplyOf<Creation>['data'] & { readonly message?: string };

function told(stored: Stored): ReplyOf<Creation> {
  const { message, ...data } = stored;
  return { data, ...(message !== undefined && { message }) };
}

/** Likely mistakes in the bindings that are allowed. Copied ones were told of when the source got them. */
function warningsOf({ given, bindings }: DeploymentPlan, payments: Receivers): FieldProblem[] {
  const lack = lackOf(given.payToAddress ?? null, payments);
  return bindings
    .slice(0, given.bindings.length)
    .flatMap(({ binding, definition }, index) =>
      bindingWarnings(binding, definition, lack, `/bindings/${index}`),
    );
}

/** A clone fails at most once for each creation of its account that runs at the same time. */
const COPYING: TransactionOptions = { isolation: 'repeatable read', attempts: 10 };

/** How often a clone is planned again because its source changed between the claims and the copy. */
const ROUNDS = 5;

async function untilUnchanged<T>(create: () => Promise<T>): Promise<T> {
  for (let round = 1; round <= ROUNDS; round += 1) {
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof SourceChanged)) throw toCallError(error);
    }
  }
  throw new ServiceError('write_conflict', 'The source changes too fast to be copied. Try again.');
}

async function planDeployment(
  dependencies: CreationDependencies,
  { params, body }: RequestOf<Creation>,
  call: CallContext,
): Promise<DeploymentPlan> {
  const { db, catalog, bus, clock, models, chains, ids, limits } = dependencies;
  const ownerAccountId = accountOf(call.caller);
  if (ownerAccountId === undefined) throw new ServiceError('forbidden');
  refuseLargeBody(body, limits);
  if (!(await isKnown(db, ownerAccountId)))
    await learnAccount(
      { service: 'runtime', bus, clock, store: (state) => storeAccount(db, state) },
      ownerAccountId,
      call.signal,
    );
  refuseUnknownModel(models, body.aiModelId);
  refuseUnpriced(models, body.aiModelId ?? null, body.aiDailyBudgetUsd ?? null, '/aiDailyBudgetUsd');
  const address = newAddress();
  const claim = { world: params.worldAddress, deployment: address };
  const world = await bus.call(catalogContract.rpcs['claims.world'], claim, call);
  const at = new Date(clock.now());
  const home = { ...world, address, ownerAccountId };
  const source = await findCloneSource(db, home, body);
  const explicit = await newBindings({ catalog, chains, ids }, home, body.bindings, '/bindings', at);
  const { signal, deadline } = call;
  const copies =
    source && (await claimCopies(dependencies, source, home, explicit, { at, signal, deadline }));
  const bindings = [...explicit, ...(copies?.bindings ?? [])];
  const locked =
    body.mode === 'locked' ? await lockNow({ db, catalog, models }, home, bindings, body.aiModelId) : null;
  return { ...home, given: body, bindings, locked, copies, at };
}

/**
 * A deployment may be locked from the start: then its versions are locked as by the lock action. @throws `quota_exceeded`
 */
async function lockNow(
  { db, catalog, models }: Pick<CreationDependencies, 'db' | 'catalog' | 'models'>,
  { worldId, ownerAccountId }: { worldId: number; ownerAccountId: number },
  bindings: readonly NewBinding[],
  aiModelId: string | null | undefined,
): Promise<LockedDefinition> {
  const versionIds = bindings.map(({ binding }) => binding.versionId);
  await refuseOverQuota(db, ownerAccountId);
  const { definitions, world } = await catalog.lock(worldId, versionIds);
  return lockedDefinition(definitions, world, aiModelId ?? defaultModelId(models));
}
