import {
  type BindingChange,
  type BindingRecord,
  type bindingRpcs,
  type CallContext,
  type FieldProblem,
  fieldProblem,
  type Handlers,
  type JournalKind,
  ServiceError,
  withWarnings,
} from '@orrery/contracts';
import { keyedRequest } from '@orrery/database';
import { lifecycleEntry } from '../../core/deciding/lifecycle-entry.js';
import type { VersionClaim } from '../../lane/catalog/catalog-client.js';
import { keyedItem } from '../../lane/items/once-item.js';
import type { WorkItem } from '../../lane/items/work-item.js';
import type { OwnedHandlers } from '../../lane/ownership/route-to-owner.js';
import type { MadeClaim } from '../../store/deployments/claim-store.js';
import {
  type KnownDeployment,
  refuseLocked,
  refuseWhatIf,
} from '../../store/deployments/deployment-directory.js';
import { listBindings, type NewBinding } from '../../store/state/bindings.js';
import type { Binding, DeploymentState } from '../../store/state/deployment-state.js';
import type { RuntimeContext } from '../context.js';
import {
  binderOf,
  bindingWarnings,
  claimAt,
  factsOf,
  newBindings,
  notBound,
  refuseDuplicates,
  refuseLongList,
  refuseProblems,
  refuseUnknownChains,
  toRecord,
} from './binding-rules.js';

type Rpcs = typeof bindingRpcs;

export const bindingReads = ({ db, access }: RuntimeContext): Handlers<Pick<Rpcs, 'bindings.list'>> => ({
  'bindings.list': async ({ params, query }, { caller }) => {
    const deployment = await access.see(params, caller);
    const bindings = await listBindings(db, deployment.id);
    const { event } = query;
    if (event === undefined) return { data: bindings.map(toRecord) };
    const found = bindings.find((binding) => binding.event === event);
    if (found === undefined) {
      const bound = bindings.map((binding) => binding.event);
      throw new ServiceError('event_binding_not_found', notBound(event, bound));
    }
    return { data: toRecord(found) };
  },
});

/** Claims and releases of one deployment run one at a time, so no release removes what is being claimed. */
export function bindingWrites(context: RuntimeContext): OwnedHandlers<Omit<Rpcs, 'bindings.list'>> {
  const { db, lanes, access, clock, claimMutex, chains, catalog, limits, logger } = context;
  const release = ({ address }: KnownDeployment, versions: MadeClaim[]) =>
    catalog
      .release(address, { versions })
      .catch((error: unknown) =>
        logger.info(
          { err: error },
          'releasing the claims of unbound versions failed; the sweep releases them',
        ),
      );
  return {
    'bindings.add': (deployment, { params, headers, body }, call) =>
      claimMutex.run(deployment.id, async () => {
        // A deleted deployment is not found, whatever the body holds, and claims nothing any more.
        refuseWhatIf(await access.visible(params, call.caller));
        refuseLongList(body, limits);
        const now = clock.now();
        const operation = `add bindings ${deployment.id}`;
        const keyed = keyedRequest(operation, headers['idempotency-key'], body, call.caller, now);
        refuseDuplicates(body, '');
        const claim = () => newBindings(context, deployment, body, '', new Date(now));
        const added = addBindings(context, deployment, call, body, claim);
        return answerOf(await lanes.submit(keyedItem(db, added, keyed)));
      }),
    'bindings.update': (deployment, { params, body }, call) =>
      claimMutex.run(deployment.id, async () => {
        const visible = await access.visible(params, call.caller);
        refuseLongList(body, limits);
        refuseDuplicates(body, '');
        refuseUnknownChains(chains, body, '');
        // An unbound event is reported before an unknown version. Bindings only change under `claimMutex`.
        refuseUnbound(body, new Set((await listBindings(db, deployment.id)).map(({ event }) => event)));
        refuseLocked(visible);
        const claims = await claimChanged(context, deployment, body);
        const changed = await lanes.submit(updateBindings(context, deployment, call, body, claims));
        await release(deployment, changed.unbound);
        return answerOf(changed);
      }),
    'bindings.remove': (deployment, { query }, call) =>
      claimMutex.run(deployment.id, async () => {
        const { unbound } = await lanes.submit(removeBinding(deployment, call, query.event));
        await release(deployment, unbound);
        return { data: { deleted: true } };
      }),
  };
}

const answerOf = ({ records: data, warnings = [] }: ChangedBindings) => ({
  data,
  ...withWarnings(warnings),
});

async function claimChanged(
  { catalog }: RuntimeContext,
  deployment: KnownDeployment,
  changes: readonly BindingChange[],
): Promise<Map<string, VersionClaim>> {
  const named = changes.flatMap(({ event, eventVersion }, index) =>
    eventVersion === undefined ? [] : [{ event, version: eventVersion, index }],
  );
  const versions = named.map(({ event, version }) => ({ event, version }));
  const indexes = named.map(({ index }) => index);
  const claims = await claimAt('', () => catalog.claimVersions(deployment, versions), indexes);
  return new Map(claims.map((claim) => [claim.event, claim]));
}

interface BindingsChange {
  readonly kind: JournalKind;
  readonly put: readonly Binding[];
  readonly remove: readonly string[];
  /** Likely mistakes that are allowed. */
  readonly warnings?: readonly FieldProblem[];
}

interface ChangedBindings {
  /** Those that were put. */
  readonly records: BindingRecord[];
  /** The claims on versions that were bound before and no longer are. */
  readonly unbound: MadeClaim[];
  /** Likely mistakes that are allowed; absent in answers that an older runtime stored. */
  readonly warnings?: readonly FieldProblem[];
}

/** All or nothing: an error thrown by `change` refuses the whole request. */
function bindingsItem(
  deployment: KnownDeployment,
  { caller, deadline, signal }: CallContext,
  change: (state: DeploymentState, at: Date) => BindingsChange,
): WorkItem<ChangedBindings> {
  return {
    deploymentId: deployment.id,
    deadline,
    signal,
    prepare: () => undefined,
    decide: (state, _ids, now) => {
      refuseLocked(state.row);
      const { kind, put, remove, warnings = [] } = change(state, new Date(now));
      const unbound = unboundBy(put, remove, state.bindings);
      const answer = { records: put.map(toRecord), unbound, warnings };
      if (put.length + remove.length === 0) return { kind: 'answer', answer };
      const facts = kind === 'binding_removed' ? { events: [...remove] } : { bindings: put.map(factsOf) };
      const entry = lifecycleEntry(kind, deployment.address, caller, now, facts);
      return {
        kind: 'commit',
        effects: { entry, bindings: { put, remove } },
        answer: () => ({ reply: answer }),
      };
    },
  };
}

function unboundBy(
  put: readonly Binding[],
  remove: readonly string[],
  bound: ReadonlyMap<string, Binding>,
): MadeClaim[] {
  const replaced = put.flatMap(({ event, versionId }) => {
    const before = bound.get(event);
    return before === undefined || before.versionId === versionId ? [] : [before];
  });
  const removed = remove.flatMap((event) => bound.get(event) ?? []);
  return [...replaced, ...removed].map(({ versionId: id, claimRevision: revision }) => ({ id, revision }));
}

/**
 * `claim` makes the bindings and claims their versions; a repetition of a keyed request claims nothing, and neither does a
 * request that is refused: what it claimed could not be deleted before the catalog's next sweep.
 * @throws `event_binding_exists`, `limit_reached`, `deployment_locked`
 */
function addBindings(
  { payments, limits }: RuntimeContext,
  deployment: KnownDeployment,
  call: CallContext,
  given: readonly { readonly event: string }[],
  claim: () => Promise<readonly NewBinding[]>,
): WorkItem<ChangedBindings> {
  let added: readonly NewBinding[] | undefined;
  const item = bindingsItem(deployment, call, ({ bindings, row }) => {
    const put = (added ?? []).map(({ binding }) => binding);
    refuseAddition(given, bindings, limits);
    const bound = [...bindings.keys(), ...put.map(({ event }) => event)];
    const binder = binderOf(row.pay_to_address, bound, payments);
    const warnings = (added ?? []).flatMap(({ binding, definition }, index) =>
      bindingWarnings(binding, definition, binder, `/${index}`),
    );
    return { kind: 'bindings_added', put, remove: [], warnings };
  });
  const prepare = async ({ bindings, row }: DeploymentState) => {
    refuseLocked(row);
    refuseAddition(given, bindings, limits);
    added ??= await claim();
  };
  return { ...item, prepare };
}

/** @throws `event_binding_exists`, `limit_reached` */
function refuseAddition(
  given: readonly { readonly event: string }[],
  bound: ReadonlyMap<string, Binding>,
  { bindingsPerDeployment: limit }: RuntimeContext['limits'],
): void {
  const errors = given.flatMap(({ event }, index) =>
    bound.has(event) ? [fieldProblem(`/${index}/event`, 'event_binding_exists', alreadyBound(event))] : [],
  );
  refuseProblems('event_binding_exists', errors);
  if (bound.size + given.length <= limit) return;
  const message = `A deployment has at most ${limit} bindings.`;
  throw new ServiceError('limit_reached', message, { facts: { limit } });
}

const alreadyBound = (event: string): string =>
  `The event "${event}" is bound already. PUT the bindings to change its version.`;

/** `claims` are those on the versions that the changes name, by event. */
function updateBindings(
  { catalog, payments }: RuntimeContext,
  deployment: KnownDeployment,
  call: CallContext,
  changes: readonly BindingChange[],
  claims: ReadonlyMap<string, VersionClaim>,
): WorkItem<ChangedBindings> {
  const definitions = new Map([...claims].map(([event, { definition }]) => [event, definition] as const));
  const item = bindingsItem(deployment, call, ({ bindings, row }, at) => {
    refuseUnbound(changes, bindings);
    const put = changes.flatMap((change) => {
      const before = bindings.get(change.event);
      return before === undefined ? [] : [changed(before, change, claims.get(change.event), at)];
    });
    const binder = binderOf(row.pay_to_address, bindings.keys(), payments);
    const warnings = changes.flatMap((change, index) => {
      const definition = definitions.get(change.event);
      return definition ? bindingWarnings(change, definition, binder, `/${index}`) : [];
    });
    return { kind: 'bindings_updated', put, remove: [], warnings };
  });
  /** The versions that stay bound under a new filter. A warning is not worth a failure, so they may be missing. */
  const prepare = async ({ bindings }: DeploymentState) => {
    const filtered = changes.filter(({ event, onchain }) => onchain && !definitions.has(event));
    await Promise.all(
      filtered.map(async ({ event }) => {
        const binding = bindings.get(event);
        const found = binding && (await catalog.version(deployment.worldId, binding).catch(() => undefined));
        if (found) definitions.set(event, found.definition);
      }),
    );
  };
  return { ...item, prepare };
}

/** @throws `event_binding_not_found` naming every change of an event that is not bound. */
function refuseUnbound(
  changes: readonly BindingChange[],
  bound: Pick<ReadonlySet<string>, 'has' | 'keys'>,
): void {
  const errors = changes.flatMap(({ event }, index) =>
    bound.has(event)
      ? []
      : [fieldProblem(`/${index}/event`, 'event_binding_not_found', notBound(event, bound.keys()))],
  );
  refuseProblems('event_binding_not_found', errors);
}

const changed = (
  before: Binding,
  {
    event,
    eventVersion = before.eventVersion,
    targetChains = before.targetChains,
    onchain = before.onchain,
  }: BindingChange,
  claim: VersionClaim | undefined,
  at: Date,
): Binding => ({
  ...before,
  ...(claim && { versionId: claim.id, claimRevision: claim.revision }),
  ...({ event, eventVersion, targetChains, onchain } satisfies Record<keyof BindingChange, unknown>),
  updatedAt: at,
});

/** @throws `event_binding_not_found`, `deployment_locked` */
const removeBinding = (deployment: KnownDeployment, call: CallContext, event: string) =>
  bindingsItem(deployment, call, ({ bindings }) => {
    if (!bindings.has(event))
      throw new ServiceError('event_binding_not_found', notBound(event, bindings.keys()));
    return { kind: 'binding_removed', put: [], remove: [event] };
  });
