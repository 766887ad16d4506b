import type { JournalKind } from '@orrery/contracts';
import type { Of } from './arbitrary-command.js';
import {
  enter,
  type Foretold,
  fine,
  LOCKED,
  type ModelDeployment,
  type ModelInstances,
  type ModelWorld,
  type Rules,
  refused,
  seqBack,
  versionOf,
} from './model.js';

type Bindings = Of<'bind'>['bindings'];

function foretellBind(
  world: ModelWorld,
  deployment: ModelDeployment,
  { kind, bindings }: Of<'bind' | 'rebind'>,
): Foretold {
  if (new Set(bindings.map(({ event }) => event)).size < bindings.length)
    return refused(400, 'duplicate_event');
  if (kind === 'rebind' && bindings.some(({ event }) => !deployment.bindings.has(event)))
    return refused(404, 'event_binding_not_found');
  if (deployment.isLocked) return LOCKED;
  if (kind === 'bind' && bindings.some(({ event }) => deployment.bindings.has(event)))
    return refused(409, 'event_binding_exists');
  if (bindings.some(({ event, eventVersion }) => versionOf(world, event, eventVersion) === undefined))
    return refused(400, 'unknown_event_version');
  for (const { event, eventVersion } of bindings) deployment.bindings.set(event, eventVersion);
  enter(deployment, kind === 'bind' ? 'bindings_added' : 'bindings_updated');
  return fine(
    bindings.map((binding) => ({ ...binding, targetChains: [], onchain: null })),
    kind === 'bind' ? 201 : 200,
  );
}

const shown = ({ name, isLocked, isPaused, isPublic }: ModelDeployment) => ({
  name,
  mode: isLocked ? 'locked' : 'upgradable',
  isPaused,
  isPublic,
});

function lockVersions(world: ModelWorld, bindings: ReadonlyMap<string, number>): void {
  for (const [event, eventVersion] of bindings) {
    const version = versionOf(world, event, eventVersion);
    if (version !== undefined) version.isLocked = true;
  }
}

/** Adds a deployment with these bindings, from nothing or as a copy. */
export function foretellDeployment(
  world: ModelWorld,
  parts: {
    name: string;
    bindings: Bindings;
    isLocked?: boolean;
    source?: ModelDeployment;
    instances?: ModelInstances;
  },
): Foretold {
  const { name, isLocked = false } = parts;
  const bindings = new Map(parts.source?.bindings);
  for (const { event, eventVersion } of parts.bindings) bindings.set(event, eventVersion);
  const copies = [...(parts.instances ?? [])].map(
    ([key, { state }]) => [key, { state, revision: 1 }] as const,
  );
  const switches = { isDeleted: false, isLocked, isPaused: false, isPublic: false };
  const deployment = {
    name,
    ...switches,
    bindings,
    instances: new Map(copies),
    entries: [],
    keys: new Map(),
  };
  world.deployments.push(deployment);
  enter(deployment, 'deployment_created');
  if (isLocked) lockVersions(world, bindings);
  return fine(shown(deployment), 201);
}

/** What changes a deployment itself, or makes one. */
export const LIFECYCLE = {
  bind: foretellBind,
  rebind: foretellBind,
  unbind: (_world, deployment, { event }) => {
    if (deployment.isLocked) return LOCKED;
    if (!deployment.bindings.delete(event)) return refused(404, 'event_binding_not_found');
    enter(deployment, 'binding_removed');
    return fine({ deleted: true });
  },
  turn: (world, deployment, { action }) => {
    const turns = {
      pause: ['isPaused', true, 'paused'],
      resume: ['isPaused', false, 'resumed'],
      publish: ['isPublic', true, 'published'],
      unpublish: ['isPublic', false, 'unpublished'],
      lock: ['isLocked', true, 'locked'],
    } as const satisfies Record<Of<'turn'>['action'], readonly [keyof ModelDeployment, boolean, JournalKind]>;
    const [flag, on, kind] = turns[action];
    if (deployment[flag] !== on) enter(deployment, kind);
    deployment[flag] = on;
    if (action === 'lock') lockVersions(world, deployment.bindings);
    return fine(shown(deployment));
  },
  rename: (_world, deployment, { name }) => {
    deployment.name = name;
    enter(deployment, 'settings_updated');
    return fine(shown(deployment));
  },
  end: (_world, deployment) => {
    if (deployment.isLocked) return LOCKED;
    deployment.isDeleted = true;
    enter(deployment, 'deleted');
    return fine({ deleted: true });
  },
  clone: (world, source, step) => {
    if (source.isDeleted) return refused(400, 'unknown_deployment');
    const { entries, instances: now } = source;
    const instances = step.back === null ? now : entries[seqBack(entries.length, step.back) - 1]?.after;
    const bindings = step.explicit ? [{ event: 'e0', eventVersion: 1 }] : [];
    const parts = { name: 'Clone', bindings, isLocked: step.mode === 'locked', source };
    return foretellDeployment(world, { ...parts, ...(instances && { instances }) });
  },
  /** A draft may be replaced whole, and the next execution uses it; a locked version stays. */
  redefine: (world, _deployment, { event, version, plan }) => {
    const found = versionOf(world, event, version);
    if (found === undefined) return refused(404, 'event_version_not_found');
    if (found.isLocked) return refused(409, 'version_locked');
    found.plan = plan;
    return fine();
  },
} satisfies Partial<Rules>;
