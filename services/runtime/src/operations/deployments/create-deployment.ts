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
  keyedRequest,
  OutcomeUnknown,
  type TransactionOptions,
  toCallError,
  transaction,
} from '@orrery/database';
import { tooManyInstances } from '@orrery/deciding';
import { learnAccount } from '@orrery/service-host';
import { defaultModelId, refuseUnknownModel, refuseUnpriced } from '../../core/prompting/model.js';
import {
  isKnown,
  quotaOfDeployments,
  refuseOverQuota,
  storeAccount,
} from '../../store/deployments/account-store.js';
import type { SchemaClaim } from '../../store/deployments/claim-store.js';
import {
  type ClaimedCopies,
  type CloneSource,
  contentAt,
  contentNow,
  readSource,
  SourceChanged,
} from '../../store/deployments/copy-source.js';
import { toRecord } from '../../store/deployments/deployment-directory.js';
import {
  type DeploymentPlan,
  insertDeployment,
  PartitionGone,
} from '../../store/deployments/insert-deployment.js';
import { headOf } from '../../store/journal/journal-store.js';
import { readPast } from '../../store/journal/verify/verify-journal.js';
import { giveUpPlace, takePlace } from '../../store/leases/places.js';
import { listBindings, type NewBinding } from '../../store/state/bindings.js';
import { type LockedDefinition, lockedDefinition } from '../../store/state/deployment-state.js';
import type { Db } from '../../store/tables/schema.js';
import { bindingWarnings, lackOf, newBindings } from '../bindings/binding-rules.js';
import type { RuntimeContext } from '../context.js';
import { refuseLargeBody } from './handlers.js';

type Creation = (typeof deploymentRpcs)['deployments.create'];

export const creationHandlers = (
  context: RuntimeContext,
): Handlers<Pick<typeof deploymentRpcs, 'deployments.create'>> => ({
  'deployments.create': (request, call) => createDeployment(context, request, call),
});

/**
 * Claims the world and the versions under the new address, then commits the deployment with the first entry of its
 * journal. No caller knows the address before that, so no lane is involved. The sweep removes the claims of a creation
 * that fails. A lock is final, so it comes last, after the quota and the limits.
 */
async function createDeployment(
  context: RuntimeContext,
  request: RequestOf<Creation>,
  call: CallContext,
): Promise<ReplyOf<Creation>> {
  const keyed = keyedRequest(
    `create ${request.params.worldAddress.toLowerCase()}`,
    request.headers['idempotency-key'],
    request.body,
    call.caller,
    context.clock.now(),
  );
  const answer = keyed && (await findAnswer(context.db, keyed));
  // Stored by this very operation.
  if (answer !== undefined) return told(answer as unknown as Stored);
  const created = await untilUnchanged(async () => {
    const planned = await planDeployment(context, request, call);
    return inItsPlace(context, planned, (id) => {
      const plan = { ...planned, id };
      return transaction(
        context.db,
        (trx) =>
          answerOnce(trx, keyed, async () => {
            const said = withWarnings(warningsOf(plan, context.payments));
            const record = toRecord(await insertDeployment(trx, plan, call.caller, context.limits));
            return { ...record, ...said };
          }),
        { ...(plan.copies && COPYING), signal: call.signal },
      );
    });
  });
  context.announceCreation(created.address);
  return told(created);
}

/**
 * Where there are several databases, the directory gives the id, of a partition that lives here, and notes the place first. If
 * the creation fails for certain the place is given up; where that is not known, or this process dies, it is swept.
 */
async function inItsPlace<T extends { readonly id: number }>(
  { homes, db }: RuntimeContext,
  { address, ownerAccountId: accountId }: PlannedDeployment,
  create: (id: number | undefined) => Promise<T>,
): Promise<T> {
  if (homes.isOnly()) return create(undefined);
  const { directory } = homes;
  const quota = await quotaOfDeployments(db, accountId);
  const partitions = homes.partitionsOf(homes.id);
  const id = await takePlace(directory, { address, accountId, quota, partitions });
  try {
    const created = await create(id);
    // Another request with the same key has created it.
    if (created.id !== id) await giveUpPlace(directory, id);
    return created;
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) await giveUpPlace(directory, id).catch(() => undefined);
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
      if (!(error instanceof SourceChanged || error instanceof PartitionGone)) throw toCallError(error);
    }
  }
  throw new ServiceError('write_conflict', 'The source changes too fast to be copied. Try again.');
}

type PlannedDeployment = Omit<DeploymentPlan, 'id'>;

async function planDeployment(
  context: RuntimeContext,
  { params, body }: RequestOf<Creation>,
  call: CallContext,
): Promise<PlannedDeployment> {
  const { db, bus, clock, models, limits } = context;
  const ownerAccountId = accountOf(call.caller);
  if (ownerAccountId === undefined) throw new ServiceError('forbidden');
  refuseLargeBody(body, limits);
  refuseLoudFork(body);
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
  const versionIds = bindings.map(({ binding }) => binding.versionId);
  await refuseOverQuota(db, ownerAccountId);
  const { definitions, world } = await catalog.lock(worldId, versionIds);
  return lockedDefinition(definitions, world, aiModelId ?? defaultModelId(models));
}

/**
 * Finds the source of a clone: of the same world and account. What is foreign, deleted or elsewhere looks absent.
 * @throws `unknown_deployment`, `validation_failed` for a `sourceSeq` that its journal has not reached
 */
async function findCloneSource(
  db: Db,
  home: { worldId: number; ownerAccountId: number },
  { sourceDeployment, sourceSeq, sourceTimers = false }: NewDeployment,
): Promise<CloneSource | null> {
  if (sourceTimers && (sourceDeployment === undefined || sourceSeq !== undefined)) throw badTimers();
  if (sourceDeployment === undefined) {
    if (sourceSeq === undefined) return null;
    throw badSeq('It names an entry of the journal of `sourceDeployment`, which is missing.');
  }
  const source = await readSource(db, home, sourceDeployment);
  if (source === undefined) throw unknownDeployment();
  if (sourceSeq === undefined) return { ...source, seq: undefined, withTimers: sourceTimers };
  const { seq } = await headOf(db, source.id);
  if (sourceSeq > seq) throw badSeq(`The journal ends at ${seq}.`);
  return { ...source, seq: sourceSeq, withTimers: false };
}

function unknownDeployment(): ServiceError {
  const message = 'You have no such deployment in this world.';
  const errors = [fieldProblem('/sourceDeployment', 'unknown_deployment', message)];
  return new ServiceError('unknown_deployment', message, { errors });
}

const NO_TIMERS =
  'It copies the timers that are pending now: with `sourceDeployment`, and without `sourceSeq`.';

const badTimers = () =>
  new ServiceError('validation_failed', `/sourceTimers: ${NO_TIMERS}`, {
    errors: [fieldProblem('/sourceTimers', 'invalid', NO_TIMERS)],
  });

const badSeq = (message: string) =>
  new ServiceError('validation_failed', `/sourceSeq: ${message}`, {
    errors: [fieldProblem('/sourceSeq', 'out_of_range', message)],
  });

/** `explicit` bindings win over copied ones of the same event; a what-if fork copies none. @throws `limit_reached`, `unknown_entity_schema`, `history_broken` */
async function claimCopies(
  context: RuntimeContext,
  source: CloneSource,
  { isFork, ...home }: { address: string; worldId: number; isFork: boolean },
  explicit: readonly NewBinding[],
  at: Date,
  call: CallContext,
): Promise<ClaimedCopies> {
  const sourceBindings = await listBindings(context.db, source.id);
  const own = new Set(explicit.map(({ binding }) => binding.event));
  const copied = isFork ? [] : sourceBindings.filter(({ event }) => !own.has(event));
  refuseTooMany(own.size + copied.length, context.limits);
  const bindings = await newBindings(context, home, copied, '/sourceDeployment', at);
  return {
    source,
    sourceBindings,
    bindings,
    schemas: await claimSchemas(context, source, home, call),
  };
}

function refuseTooMany(count: number, { bindingsPerDeployment: limit }: RuntimeContext['limits']): void {
  if (count <= limit) return;
  throw new ServiceError('limit_reached', `A deployment has at most ${limit} bindings.`, {
    facts: { limit, bindings: count },
  });
}

async function claimSchemas(
  context: RuntimeContext,
  source: CloneSource,
  { address, worldId }: { address: string; worldId: number },
  call: CallContext,
): Promise<readonly SchemaClaim[]> {
  const { db, catalog, limits } = context;
  const { id, seq } = source;
  const { names, instances } = await (seq === undefined
    ? contentNow(db, id)
    : readPast(context, source, seq, call, () => contentAt(db, id, seq)));
  if (instances > limits.instancesPerDeployment) throw tooManyInstances(limits.instancesPerDeployment);
  if (names.length === 0) return [];
  return catalog.claimSchemas({ address, world_id: worldId }, names).catch(asOfSource);
}

/** The past may have instances of a schema that no longer exists. */
function asOfSource(error: unknown): never {
  if (!(error instanceof ServiceError) || error.code !== 'unknown_entity_schema') throw error;
  const message = 'The source had instances of an entity schema that no longer exists.';
  throw new ServiceError(error.code, message, {
    errors: [fieldProblem('/sourceSeq', error.code, message)],
    cause: error,
  });
}
