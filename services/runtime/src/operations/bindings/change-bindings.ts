import {
  type BindingChange,
  type BindingRecord,
  type CallContext,
  type FieldProblem,
  fieldProblem,
  type JournalKind,
  ServiceError,
} from '@orrery/contracts';
import { lifecycleEntry } from '../../core/deciding/lifecycle-entry.js';
import type { CatalogClient, VersionClaim } from '../../lane/catalog/catalog-client.js';
import type { WorkItem } from '../../lane/items/work-item.js';
import type { MadeClaim } from '../../store/deployments/claim-store.js';
import { type KnownDeployment, refuseLocked } from '../../store/deployments/deployment-directory.js';
import type { NewBinding } from '../../store/state/bindings.js';
import type { Binding, DeploymentState } from '../../store/state/deployment-state.js';
import { factsOf, notBound, toRecord } from './binding-rules.js';
import { bindingWarnings, lackOf, type Receivers } from './binding-warnings.js';

interface BindingsChange {
  readonly kind: JournalKind;
  readonly put: readonly Binding[];
  readonly remove: readonly string[];
  /** Likely mistakes that are allowed. */
  readonly warnings?: readonly FieldProblem[];
}

export interface ChangedBindings {
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
 * `claim` makes the bindings and claims their versions; a repetition of a keyed request claims nothing. `limit`: bindings
 * that a deployment may have.
 * @throws `event_binding_exists`, `limit_reached`, `deployment_locked`
 */
export function addBindings(
  payments: Receivers,
  deployment: KnownDeployment,
  call: CallContext,
  claim: () => Promise<readonly NewBinding[]>,
  limit: number,
): WorkItem<ChangedBindings> {
  let added: readonly NewBinding[] | undefined;
  const item = bindingsItem(deployment, call, ({ bindings, row }) => {
    const put = (added ?? []).map(({ binding }) => binding);
    refuseBound(put, bindings);
    if (bindings.size + put.length > limit) {
      throw new ServiceError('limit_reached', `A deployment has at most ${limit} bindings.`, {
        facts: { limit },
      });
    }
    const lack = lackOf(row.pay_to_address, payments);
    const warnings = (added ?? []).flatMap(({ binding, definition }, index) =>
      bindingWarnings(binding, definition, lack, `/${index}`),
    );
    return { kind: 'bindings_added', put, remove: [], warnings };
  });
  const prepare = async () => {
    added ??= await claim();
  };
  return { ...item, prepare };
}

function refuseBound(put: readonly Binding[], bound: ReadonlyMap<string, Binding>): void {
  const errors = put.flatMap(({ event }, index) =>
    bound.has(event) ? [fieldProblem(`/${index}/event`, 'event_binding_exists', alreadyBound(event))] : [],
  );
  if (errors.length > 0) throw new ServiceError('event_binding_exists', errors[0]?.message, { errors });
}

const alreadyBound = (event: string): string =>
  `The event "${event}" is bound already. PUT the bindings to change its version.`;

interface ForWarnings {
  readonly catalog: Pick<CatalogClient, 'version'>;
  readonly payments: Receivers;
}

/** `claims` are those on the versions that the changes name, by event. */
export function updateBindings(
  { catalog, payments }: ForWarnings,
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
    const lack = lackOf(row.pay_to_address, payments);
    const warnings = changes.flatMap((change, index) => {
      const definition = definitions.get(change.event);
      return definition ? bindingWarnings(change, definition, lack, `/${index}`) : [];
    });
    return { kind: 'bindings_updated', put, remove: [], warnings };
  });
  /** The versions that stay bound under a new filter. A warning is not worth a failure, so they may be missing. */
  const prepare = async ({ bindings }: DeploymentState) => {
    const filtered = changes.filter(({ event, onchain }) => onchain && !definitions.has(event));
    await Promise.all(
      filtered.map(async ({ event }) => {
        const binding = bindings.get(event);
        const found = binding && (await catalog.version(binding.versionId).catch(() => undefined));
        if (found) definitions.set(event, found.definition);
      }),
    );
  };
  return { ...item, prepare };
}

/** @throws `event_binding_not_found` naming every change of an event that is not bound. */
export function refuseUnbound(
  changes: readonly BindingChange[],
  bound: Pick<ReadonlySet<string>, 'has' | 'keys'>,
): void {
  const errors = changes.flatMap(({ event }, index) =>
    bound.has(event)
      ? []
      : [fieldProblem(`/${index}/event`, 'event_binding_not_found', notBound(event, bound.keys()))],
  );
  if (errors.length > 0) throw new ServiceError('event_binding_not_found', errors[0]?.message, { errors });
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
export const removeBinding = (deployment: KnownDeployment, call: CallContext, event: string) =>
  bindingsItem(deployment, call, ({ bindings }) => {
    if (!bindings.has(event))
      throw new ServiceError('event_binding_not_found', notBound(event, bindings.keys()));
    return { kind: 'binding_removed', put: [], remove: [event] };
  });
