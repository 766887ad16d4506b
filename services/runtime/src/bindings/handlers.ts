import {
  type BindingChange,
  type bindingRpcs,
  type Handlers,
  ServiceError,
  type VersionDefinition,
} from '@orrery/contracts';
import type { RuntimeContext } from '../context.js';
import type { KnownDeployment } from '../deployments/deployment-directory.js';
import type { OwnedHandlers } from '../ownership/owned-handlers.js';
import { claimAt, newBindings, refuseDuplicates, refuseUnknownChains, toRecord } from './binding-rules.js';
import { listBindings } from './binding-store.js';
import { addBindings, refuseUnbound, removeBinding, updateBindings } from './change-bindings.js';

type Rpcs = typeof bindingRpcs;
export type BindingWrites = Omit<Rpcs, 'bindings.list'>;

export function bindingReads({ db, access }: RuntimeContext): Handlers<Pick<Rpcs, 'bindings.list'>> {
  return {
    'bindings.list': async ({ params, query }, { caller }) => {
      const deployment = await access.visible(params, caller);
      const bindings = await listBindings(db, deployment.id);
      if (query.event === undefined) return { data: bindings.map(toRecord) };
      const event = query.event.normalize('NFC');
      const found = bindings.find((binding) => binding.event === event);
      if (found === undefined) throw new ServiceError('event_binding_not_found');
      return { data: toRecord(found) };
    },
  };
}

/** Claims and releases of one deployment take turns, so that no release gives back what is just being claimed. */
export function bindingWrites(context: RuntimeContext): OwnedHandlers<BindingWrites> {
  const { db, lanes, access, clock, claimMutex, chains, catalog, logger } = context;
  const release = async ({ address }: KnownDeployment, versionIds: number[]) => {
    if (versionIds.length === 0) return;
    await catalog
      .release(address, { versionIds })
      .catch((error: unknown) => logger.info({ err: error }, 'claims are left to the sweep'));
  };
  return {
    'bindings.add': (deployment, { params, body }, call) =>
      claimMutex.run(deployment.id, async () => {
        // What has been deleted is not found, whatever the body says, and claims nothing any more.
        await access.visible(params, call.caller);
        const added = await newBindings(context, deployment, body, '', new Date(clock.now()));
        const { records } = await lanes.submit(addBindings(deployment, call, added));
        return { data: records };
      }),
    'bindings.update': (deployment, { params, body }, call) =>
      claimMutex.run(deployment.id, async () => {
        await access.visible(params, call.caller);
        refuseDuplicates(body, '');
        refuseUnknownChains(chains, body, '');
        // What is not bound is not found, also where the version that it names is none: bindings change in turns only.
        refuseUnbound(body, new Set((await listBindings(db, deployment.id)).map(({ event }) => event)));
        const definitions = await claimChanged(context, deployment, body);
        const { records, unbound } = await lanes.submit(updateBindings(deployment, call, body, definitions));
        await release(deployment, unbound);
        return { data: records };
      }),
    'bindings.remove': (deployment, { query }, call) =>
      claimMutex.run(deployment.id, async () => {
        const { unbound } = await lanes.submit(removeBinding(deployment, call, query.event.normalize('NFC')));
        await release(deployment, unbound);
        return { data: { deleted: true } };
      }),
  };
}

/** Claims the versions that changes name, by event. */
async function claimChanged(
  { catalog }: Pick<RuntimeContext, 'catalog'>,
  deployment: KnownDeployment,
  changes: readonly BindingChange[],
): Promise<Map<string, VersionDefinition>> {
  const named = changes.flatMap(({ event, eventVersion }, index) =>
    eventVersion === undefined ? [] : [{ event, version: eventVersion, index }],
  );
  const versions = named.map(({ event, version }) => ({ event, version }));
  const places = named.map(({ index }) => index);
  const definitions = await claimAt('', () => catalog.claimVersions(deployment, versions), places);
  return new Map(definitions.map((definition) => [definition.event, definition]));
}
