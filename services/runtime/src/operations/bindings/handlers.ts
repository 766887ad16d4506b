import {
  type BindingChange,
  type bindingRpcs,
  type Handlers,
  ServiceError,
  withWarnings,
} from '@orrery/contracts';
import { keyedRequest } from '@orrery/database';
import type { Clock, KeyedMutex, Logger } from '@orrery/service-kit';
import type { CatalogClient, VersionClaim } from '../../lane/catalog/catalog-client.js';
import { keyedItem } from '../../lane/items/once-item.js';
import type { OwnedHandlers } from '../../lane/ownership/route-to-owner.js';
import type { Lanes } from '../../lane/queue/lanes.js';
import type { MadeClaim } from '../../store/deployments/claim-store.js';
import type {
  DeploymentAccess,
  KnownDeployment,
  RuntimeLimits,
} from '../../store/deployments/deployment-directory.js';
import { listBindings } from '../../store/state/bindings.js';
import type { Db } from '../../store/tables/schema.js';
import {
  type BindingClaims,
  claimAt,
  newBindings,
  notBound,
  refuseDuplicates,
  refuseLongList,
  refuseUnknownChains,
  toRecord,
} from './binding-rules.js';
import type { Receivers } from './binding-warnings.js';
import {
  addBindings,
  type ChangedBindings,
  refuseUnbound,
  removeBinding,
  updateBindings,
} from './change-bindings.js';

type Rpcs = typeof bindingRpcs;
type BindingWrites = Omit<Rpcs, 'bindings.list'>;

interface BindingDependencies extends BindingClaims {
  readonly db: Db;
  readonly access: Pick<DeploymentAccess, 'visible'>;
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly catalog: Pick<CatalogClient, 'claimVersions' | 'release' | 'version'>;
  readonly payments: Receivers;
  /** Claims and releases run one at a time per deployment. */
  readonly claimMutex: KeyedMutex;
  readonly clock: Pick<Clock, 'now'>;
  readonly limits: RuntimeLimits;
  readonly logger: Logger;
}

export function bindingReads({
  db,
  access,
}: Pick<BindingDependencies, 'db'> & { access: Pick<DeploymentAccess, 'see'> }): Handlers<
  Pick<Rpcs, 'bindings.list'>
> {
  return {
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
  };
}

/** Claims and releases of one deployment run one at a time, so no release removes what is being claimed. */
export function bindingWrites(dependencies: BindingDependencies): OwnedHandlers<BindingWrites> {
  const { db, lanes, access, clock, claimMutex, chains, catalog, payments, limits, logger } = dependencies;
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
        await access.visible(params, call.caller);
        refuseLongList(body, limits);
        const now = clock.now();
        const operation = `add bindings ${deployment.id}`;
        const keyed = keyedRequest(operation, headers['idempotency-key'], body, call.caller, now);
        const claim = () => newBindings(dependencies, deployment, body, '', new Date(now));
        const added = addBindings(payments, deployment, call, claim, limits.bindingsPerDeployment);
        return answerOf(await lanes.submit(keyedItem(db, added, keyed)));
      }),
    'bindings.update': (deployment, { params, body }, call) =>
      claimMutex.run(deployment.id, async () => {
        await access.visible(params, call.caller);
        refuseLongList(body, limits);
        refuseDuplicates(body, '');
        refuseUnknownChains(chains, body, '');
        // An unbound event is reported before an unknown version. Bindings only change under `claimMutex`.
        refuseUnbound(body, new Set((await listBindings(db, deployment.id)).map(({ event }) => event)));
        const claims = await claimChanged(dependencies, deployment, body);
        const changed = await lanes.submit(updateBindings(dependencies, deployment, call, body, claims));
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

function answerOf({ records: data, warnings = [] }: ChangedBindings) {
  const message = withWarnings(warnings);
  return { data, ...(message !== undefined && { message }) };
}

async function claimChanged(
  { catalog }: Pick<BindingClaims, 'catalog'>,
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
