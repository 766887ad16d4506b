import {
  type CallContext,
  catalogContract,
  type deploymentRpcs,
  newAddress,
  type ReplyOf,
  type RequestOf,
  ServiceError,
} from '@orrery/contracts';
import {
  answerOnce,
  findAnswer,
  type TransactionOptions,
  toServiceError,
  transaction,
} from '@orrery/database';
import { refuseOverQuota } from '../accounts/account-store.js';
import { type NewBinding, newBindings } from '../bindings/binding-rules.js';
import type { RuntimeContext } from '../context.js';
import { keyedRequest } from '../idempotency/keyed-request.js';
import { refuseUnknownModel } from '../models/model-list.js';
import { type ClaimedCopies, claimCopies } from './clone/claim-copies.js';
import { findCloneSource } from './clone/clone-source.js';
import { SourceChanged } from './clone/copy-source.js';
import { accountOf, toRecord } from './deployment-rules.js';
import { insertDeployment } from './insert-deployment.js';
import { type LockedDefinition, lockedDefinition } from './lock-deployment.js';

type Creation = (typeof deploymentRpcs)['deployments.create'];

/** Everything that a new deployment begins with. */
export interface DeploymentPlan {
  readonly address: string;
  readonly worldId: number;
  readonly worldAddress: string;
  readonly ownerAccountId: number;
  readonly given: RequestOf<Creation>['body'];
  readonly bindings: readonly NewBinding[];
  /** Of a deployment that is locked from the start. */
  readonly locked: LockedDefinition | null;
  /** Of a clone: what it takes over from its source. */
  readonly copies: ClaimedCopies | null;
  readonly at: Date;
}

/**
 * Claims the world and the versions under the new address, then commits the deployment with the first entry of its
 * journal. Nobody knows the address before that, so no lane is involved. Claims of a creation that fails are swept; a
 * lock is for ever, so the catalog is asked for it last, after the quota and the limits.
 */
export async function createDeployment(
  context: RuntimeContext,
  request: RequestOf<Creation>,
  call: CallContext,
): Promise<ReplyOf<Creation>> {
  const keyed = keyedRequest(
    `create ${request.params.worldAddress.toLowerCase()}`,
    request.headers['idempotency-key'],
    request.body,
    call.caller,
  );
  const claim = keyed && { ...keyed, now: context.clock.now() };
  const answer = claim && (await findAnswer(context.db, claim));
  // Stored by this very operation.
  if (answer !== undefined) return { data: answer as ReplyOf<Creation>['data'] };
  const data = await untilUnchanged(async () => {
    const plan = await planDeployment(context, request, call);
    return transaction(
      context.db,
      (trx) =>
        answerOnce(trx, claim, async () =>
          toRecord(await insertDeployment(trx, plan, call.caller, context.limits)),
        ),
      { ...(plan.copies && COPYING), signal: call.signal },
    );
  });
  context.wakeRelay();
  return { data };
}

/** A clone fails once for every creation of its account, at most, that was under way together with it. */
const COPYING: TransactionOptions = { isolation: 'repeatable read', attempts: 10 };

/** Times that a clone is planned anew because its source changed between the claims and the copy. */
const ROUNDS = 5;

async function untilUnchanged<T>(create: () => Promise<T>): Promise<T> {
  for (let round = 1; round <= ROUNDS; round += 1) {
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof SourceChanged)) throw toServiceError(error);
    }
  }
  throw new ServiceError('write_conflict', 'the source changes too fast to be copied');
}

async function planDeployment(
  { db, catalog, bus, clock, models, chains, ids, limits }: RuntimeContext,
  { params, body }: RequestOf<Creation>,
  call: CallContext,
): Promise<DeploymentPlan> {
  const ownerAccountId = accountOf(call.caller);
  if (ownerAccountId === undefined) throw new ServiceError('forbidden');
  refuseUnknownModel(models, body.aiModelId);
  const address = newAddress();
  const claim = { world: params.worldAddress, deployment: address };
  const world = await bus.call(catalogContract.rpcs['claims.world'], claim, call);
  const at = new Date(clock.now());
  const home = { ...world, address, ownerAccountId };
  const source = await findCloneSource(db, home, body);
  const explicit = await newBindings({ catalog, chains, ids }, home, body.bindings, '/bindings', at);
  const copies =
    source && (await claimCopies({ db, catalog, chains, ids, limits }, source, home, explicit, at));
  const bindings = [...explicit, ...(copies?.bindings ?? [])];
  const locked =
    body.mode === 'locked' ? await lockNow({ db, catalog, models }, home, bindings, body.aiModelId) : null;
  return { ...home, given: body, bindings, locked, copies, at };
}

/**
 * A deployment may be locked from the start: then its versions are locked as by the lock action. @throws `quota_exceeded`
 */
async function lockNow(
  { db, catalog, models }: Pick<RuntimeContext, 'db' | 'catalog' | 'models'>,
  { worldId, ownerAccountId }: { worldId: number; ownerAccountId: number },
  bindings: readonly NewBinding[],
  aiModelId: string | null | undefined,
): Promise<LockedDefinition> {
  const versionIds = bindings.map(({ binding }) => binding.versionId);
  await refuseOverQuota(db, ownerAccountId);
  const { definitions, world } = await catalog.lock(worldId, versionIds);
  return lockedDefinition(definitions, world, aiModelId ?? models.default()?.modelId ?? null);
}
