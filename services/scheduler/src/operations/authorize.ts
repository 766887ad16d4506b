import { type CallContext, catalogContract, type ReplyOf, runtimeContract } from '@orrery/contracts';
import type { Dispatcher } from '../firing/dispatcher.js';
import type { SchedulerSignals } from '../firing/signals.js';
import type { SchedulerContext } from '../following/context.js';
import type { Syncs } from '../following/start-syncs.js';
import { draftsOf, findFollowed } from '../store/syncs/followed-store.js';

/** What the path of a request about schedules names. */
export interface SchedulePath {
  readonly worldAddress: string;
  readonly address: string;
  readonly event: string;
}

/** What the handlers work with. */
export interface ScheduleDependencies extends SchedulerContext {
  readonly syncs: Pick<Syncs, 'now'>;
  readonly dispatcher: Pick<Dispatcher, 'take' | 'settled'>;
  readonly signals: Pick<SchedulerSignals, 'ended'>;
  /** Something may be due earlier than it was, in any process. */
  readonly announceDue: () => void;
}

type Authorized = ReplyOf<(typeof runtimeContract.rpcs)['deployments.authorize']>;

/**
 * Asks the runtime whether the caller may, then makes sure that what was answered to a caller before, such as a new
 * binding or a changed draft, is followed. @throws `deployment_not_found`, `forbidden`
 */
export async function authorize(
  dependencies: ScheduleDependencies,
  { worldAddress, address }: Pick<SchedulePath, 'worldAddress' | 'address'>,
  relation: 'visible' | 'owner',
  call: CallContext,
): Promise<Authorized> {
  const { db, bus, syncs } = dependencies;
  const request = { params: { worldAddress, address }, relation };
  const found = await bus.call(runtimeContract.rpcs['deployments.authorize'], request, call);
  const { deployment, lifecycle } = found;
  const known = await findFollowed(db, deployment);
  const isBehind = known?.seq !== lifecycle.seq || known.hash !== lifecycle.hash;
  if (isBehind || (await hasChangedDraft(dependencies, deployment, call)))
    await syncs.now(deployment, call.signal);
  return found;
}

async function hasChangedDraft(
  { db, bus }: SchedulerContext,
  deployment: string,
  call: CallContext,
): Promise<boolean> {
  const drafts = await draftsOf(db, deployment);
  if (drafts.length === 0) return false;
  const rpc = catalogContract.rpcs['definitions.confirm'];
  const { versions } = await bus.call(
    rpc,
    { versions: drafts, schemas: [], worlds: [], sharing: true },
    call,
  );
  return versions.some(({ state }) => state !== 'same');
}
