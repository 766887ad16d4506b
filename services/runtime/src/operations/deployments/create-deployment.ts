import { isUnknown } from '@orrery/bus';
import {
  accountOf,
  type CallContext,
  catalogContract,
  type deploymentRpcs,
  type FieldProblem,
  fieldProblem,
  type Handlers,
  type NewDeployment,
  newAddress,
  type ReplyOf,
  type RequestOf,
  refusal,
  type Said,
  ServiceError,
  withWarnings,
} from '@orrery/contracts';
import {
  answerOnce,
  findAnswer,
  type KeyedRequest,
  keyedRequest,
  OutcomeUnknown,
  type TransactionOptions,
  toCallError,
  transaction,
} from '@orrery/database';
import { learnAccount } from '@orrery/service-host';
import type { Clock } from '@orrery/service-kit';
import { defaultModelId, refuseUnknownModel, refuseUnpriced } from '../../core/prompting/model.js';
import type { CatalogClient } from '../../lane/catalog/catalog-client.js';
import {
  isKnown,
  quotaOfDeployments,
  refuseOverQuota,
  storeAccounts,
} from '../../store/deployments/account-store.js';
import { SourceChanged } from '../../store/deployments/copy-source.js';
import { toRecord } from '../../store/deployments/deployment-directory.js';
import {
  type DeploymentPlan,
  insertDeployment,
  PartitionGone,
} from '../../store/deployments/insert-deployment.js';
import { giveUpPlace, takePlace } from '../../store/leases/places.js';
import type { NewBinding } from '../../store/state/bindings.js';
import { type LockedDefinition, lockedDefinition } from '../../store/state/deployment-state.js';
import { binderOf, bindingWarnings, newBindings } from '../bindings/binding-rules.js';
import type { RuntimeContext } from '../context.js';
import { claimCopies, findCloneSource } from './clone-source.js';
import { refuseLargeBody } from './handlers.js';

type Creation = (typeof deploymentRpcs)['deployments.create'];

export const creationHandlers = (
  context: RuntimeContext,
): Handlers<Pick<typeof deploymentRpcs, 'deployments.create'>> => ({
  'deployments.create': (request, call) => createDeployment(context, request, call),
});

/**
 * Claims the world and the versions under the new address, then commits the deployment with the first entry of its
 * journal. No caller knows the address before that, so no lane is involved. A lock is final, so it comes last, after the
 * quota and the limits.
 */
async function createDeployment(
  context: RuntimeContext,
  request: RequestOf<Creation>,
  call: CallContext,
): Promise<ReplyOf<Creation>> {
  const keyed = keyedCreation(request, call, context.clock);
  const answer = keyed && (await findAnswer(context.db, keyed));
  // Stored by this very operation.
  if (answer !== undefined) return told(answer as unknown as Stored);
  const created = await untilUnchanged(() => createAtNewAddress(context, request, keyed, call));
  context.announceCreation(created.address);
  return told(created);
}

/** Each round has an address of its own, so that a release of its claims never reaches what another one claims. */
async function createAtNewAddress(
  context: RuntimeContext,
  { params, body }: RequestOf<Creation>,
  keyed: KeyedRequest | undefined,
  call: CallContext,
): Promise<Stored> {
  const ownerAccountId = await refuseUnclaimed(context, body, call);
  const address = newAddress();
  const claim = { world: params.worldAddress, deployment: address };
  const world = await context.bus.call(catalogContract.rpcs['claims.world'], claim, call);
  return releasedUnlessCreated(context.catalog, address, async () => {
    const planned = await planDeployment(context, { ...world, address, ownerAccountId }, body, call);
    return inItsPlace(context, planned, (id) => commitDeployment(context, { ...planned, id }, keyed, call));
  });
}

/**
 * Releases all claims of an address at which nothing was created and never will be, so that they block no deletion. Where
 * that is not certain, and where the release fails, they are left to the catalog's sweep.
 */
export async function releasedUnlessCreated<T extends { readonly address: string }>(
  catalog: Pick<CatalogClient, 'release'>,
  address: string,
  create: () => Promise<T>,
): Promise<T> {
  const release = () => catalog.release(address).catch(() => undefined);
  try {
    const created = await create();
    // Another request with the same key has created it.
    if (created.address !== address) await release();
    return created;
  } catch (error) {
    if (!mayStillHappen(error)) await release();
    throw error;
  }
}

/** The commit, or a call to the catalog that nobody waits for any more, may have been carried out or still be. */
function mayStillHappen(error: unknown): boolean {
  const told = toCallError(error);
  return isUnknown(told) || told.code === 'deadline_exceeded';
}

const commitDeployment = (
  { db, payments, limits }: RuntimeContext,
  plan: DeploymentPlan,
  keyed: KeyedRequest | undefined,
  call: CallContext,
): Promise<Stored> =>
  transaction(
    db,
    (trx) =>
      answerOnce(trx, keyed, async () => {
        const said = withWarnings(warningsOf(plan, payments));
        const record = toRecord(await insertDeployment(trx, plan, call.caller, limits));
        return { ...record, ...said };
      }),
    { ...(plan.copies && COPYING), signal: call.signal },
  );

/** A request to create that has an Idempotency-Key: the same wherever it is carried out. */
export const keyedCreation = (
  { params, headers, body }: RequestOf<Creation>,
  { caller }: CallContext,
  clock: Pick<Clock, 'now'>,
): KeyedRequest | undefined => {
  const operation = `create ${params.worldAddress.toLowerCase()}`;
  return keyedRequest(operation, headers['idempotency-key'], body, caller, clock.now());
};

/**
 * Where there are several databases, the directory gives the id, of a partition that lives here, and notes the place first. If
 * the creation fails for certain the place is given up; where that is not known, or this process dies, it is swept.
 */
export async function inItsPlace<T extends { readonly id: number }>(
  { homes, db }: Pick<RuntimeContext, 'homes' | 'db'>,
  { address, ownerAccountId: accountId }: Pick<PlannedDeployment, 'address' | 'ownerAccountId'>,
  create: (id: number | undefined) => Promise<T>,
): Promise<T> {
  if (homes.isOnly()) return create(undefined);
  const { directory } = homes;
  const quota = await quotaOfDeployments(db, accountId);
  const partitions = homes.partitionsOf(homes.id);
  const id = await takePlace(directory, { address, accountId, quota, partitions });
  // One that stays is swept.
  const giveUp = () => giveUpPlace(directory, id).catch(() => undefined);
  try {
    const created = await create(id);
    // Another request with the same key has created it.
    if (created.id !== id) await giveUp();
    return created;
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) await giveUp();
    if (error instanceof PartitionGone) await homes.read();
    throw error;
  }
}

/** The record and what is said beside it as one object, which is what is stored under a key: often the record alone. */
type Stored = ReplyOf<Creation>['data'] & Said;

function told(stored: Stored): ReplyOf<Creation> {
  const { message, warnings, ...data } = stored;
  return { data, message, warnings };
}

/** Likely mistakes in the bindings that are allowed. Copied ones were told of when the source got them. */
function warningsOf(
  { given, bindings }: PlannedDeployment,
  payments: RuntimeContext['payments'],
): FieldProblem[] {
  const bound = bindings.map(({ binding }) => binding.event);
  const binder = binderOf(given.payToAddress ?? null, bound, payments);
  return bindings
    .slice(0, given.bindings.length)
    .flatMap(({ binding, definition }, index) =>
      bindingWarnings(binding, definition, binder, `/bindings/${index}`),
    );
}

/** A clone fails at most once for each creation of its account that runs at the same time. */
const COPYING: TransactionOptions = { isolation: 'repeatable read', attempts: 10 };

/** How often a creation is planned again, because the source of a clone or the home of its partition has changed. */
const ROUNDS = 5;

/** @throws `write_conflict`, `unavailable` after the last round; otherwise what the creation throws */
export async function untilUnchanged<T>(create: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await create();
    } catch (error) {
      const isChanged = error instanceof SourceChanged || error instanceof PartitionGone;
      if (!isChanged) throw toCallError(error);
      if (round === ROUNDS) throw changing(error);
    }
  }
}

const changing = (error: SourceChanged | PartitionGone): ServiceError =>
  error instanceof SourceChanged
    ? new ServiceError('write_conflict', 'The source changes too fast to be copied. Try again.')
    : new ServiceError(
        'unavailable',
        'The deployments of this database are being moved to another one. Nothing was created: try again in a few seconds.',
      );

type PlannedDeployment = Omit<DeploymentPlan, 'id'>;

/** What needs no claim to be refused. Answers the owner's account. @throws `forbidden`, `validation_failed`, `unknown_ai_model` */
async function refuseUnclaimed(
  { db, bus, clock, models, limits }: RuntimeContext,
  body: NewDeployment,
  call: CallContext,
): Promise<number> {
  const ownerAccountId = accountOf(call.caller);
  if (ownerAccountId === undefined) throw new ServiceError('forbidden');
  refuseLargeBody(body, limits);
  refuseLoudFork(body);
  if (!(await isKnown(db, ownerAccountId)))
    await learnAccount(
      { service: 'runtime', bus, clock, store: (states) => storeAccounts(db, states) },
      ownerAccountId,
      call.signal,
    );
  refuseUnknownModel(models, body.aiModelId);
  refuseUnpriced(models, body.aiModelId ?? null, body.aiDailyBudgetUsd ?? null, '/aiDailyBudgetUsd');
  return ownerAccountId;
}

async function planDeployment(
  context: RuntimeContext,
  home: Pick<DeploymentPlan, 'worldId' | 'worldAddress' | 'address' | 'ownerAccountId'>,
  body: NewDeployment,
  call: CallContext,
): Promise<PlannedDeployment> {
  const at = new Date(context.clock.now());
  const source = await findCloneSource(context.db, home, body);
  const explicit = await newBindings(context, home, body.bindings, '/bindings', at);
  const copies =
    source &&
    (await claimCopies(context, source, { ...home, isFork: body.purpose !== undefined }, explicit, at, call));
  const bindings = [...explicit, ...(copies?.bindings ?? [])];
  const locked = body.mode === 'locked' ? await lockNow(context, home, bindings, body.aiModelId) : null;
  const journalVersion = context.journalForm.version;
  return { ...home, given: body, bindings, locked, copies, at, journalVersion };
}

/** A what-if fork begins in the past of another deployment, and binds nothing. @throws `validation_failed` */
function refuseLoudFork({ purpose, sourceSeq, bindings, mode }: NewDeployment): void {
  if (purpose === undefined) return;
  const problems = [
    ...(sourceSeq === undefined
      ? [fieldProblem('/sourceSeq', 'required', 'A what-if fork begins after an entry of its source.')]
      : []),
    ...(bindings.length > 0
      ? [fieldProblem('/bindings', 'invalid', 'A what-if fork binds nothing: each entry names its version.')]
      : []),
    ...(mode === 'locked' ? [fieldProblem('/mode', 'invalid', 'A what-if fork is not locked.')] : []),
  ];
  if (problems.length > 0) throw refusal(problems, 'The body');
}

/**
 * A deployment may be locked from the start: then its versions are locked as by the lock action. @throws `quota_exceeded`
 */
async function lockNow(
  { db, catalog, models }: RuntimeContext,
  { worldId, ownerAccountId }: { worldId: number; ownerAccountId: number },
  bindings: readonly NewBinding[],
  aiModelId: string | null | undefined,
): Promise<LockedDefinition> {
  await refuseOverQuota(db, ownerAccountId);
  const { definitions, world } = await catalog.lock(
    worldId,
    bindings.map(({ binding }) => binding),
  );
  return lockedDefinition(definitions, world, aiModelId ?? defaultModelId(models));
}
