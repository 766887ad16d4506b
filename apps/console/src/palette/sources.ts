import docPages from 'virtual:doc-pages';
import type { Orrery } from '@orrery/sdk';
import { useQueries } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import {
  DEPLOYMENTS,
  deploymentKey,
  deploymentPath,
  HISTORY,
  INSTANCES,
  useDeployments,
} from '../api/deployments.js';
import { keyOf, readAll, SETTLED, useGet, useRead } from '../api/read.js';
import type { DeploymentRef, World } from '../api/records.js';
import { EVENTS, SCHEMAS, useEvents, useSchemas, WORLDS } from '../api/worlds.js';
import { idHas } from '../data/queries.js';
import { TABS } from '../deployments/deployment-tabs.js';
import { useOrrery } from '../session/session.js';
import type { Item } from './matches.js';

/** Worlds beside the one that is open whose events and deployments are found too. */
const OTHER_WORLDS = 8;

type Navigate = ReturnType<typeof useNavigate>;

/** What is always found, by where one is: `text` finds instances and entries of the deployment. */
export function useItems(text: string): Item[] {
  const navigate = useNavigate();
  const { world, deployment } = useParams({ strict: false });
  const worlds = useWorlds();
  const inWorld = useWorldItems(world, navigate);
  const inOthers = useOtherWorlds(
    worlds.filter(({ address }) => address !== world),
    navigate,
  );
  const ref = world !== undefined && deployment !== undefined ? { world, deployment } : undefined;
  const inDeployment = useDeploymentItems(ref, text, navigate);
  return [
    ...inDeployment,
    ...inWorld,
    ...worlds.map(
      ({ address, name }): Item => ({
        key: `world ${address}`,
        kind: 'World',
        label: name,
        go: () => void navigate({ to: '/worlds/$world', params: { world: address } }),
      }),
    ),
    ...inOthers,
    { key: 'worlds', kind: 'Page', label: 'Worlds', go: () => void navigate({ to: '/' }) },
    { key: 'keys', kind: 'Page', label: 'API keys', go: () => void navigate({ to: '/keys' }) },
    ...docPages.map(
      ({ title, url }): Item => ({
        key: url,
        kind: 'Docs',
        label: title,
        go: () => location.assign(url),
      }),
    ),
  ];
}

const useWorlds = (): readonly World[] =>
  useRead(
    [...keyOf(WORLDS), { owner: 'me', page: 'all' }],
    (orrery, signal) => readAll(orrery, WORLDS, { query: { owner: 'me' }, signal }),
    SETTLED,
  ).data?.data ?? [];

interface Named {
  readonly name: string;
}
interface Deployed extends Named {
  readonly address: string;
}

const eventItem = (navigate: Navigate, world: string, { name }: Named, detail?: string): Item => ({
  key: `event ${world} ${name}`,
  kind: 'Event',
  label: name,
  detail,
  go: () => void navigate({ to: '/worlds/$world/events/$event', params: { world, event: name } }),
});

const deploymentItem = (
  navigate: Navigate,
  world: string,
  { name, address }: Deployed,
  detail?: string,
): Item => ({
  key: `deployment ${address}`,
  kind: 'Deployment',
  label: name,
  detail,
  go: () =>
    void navigate({
      to: '/worlds/$world/deployments/$deployment/live',
      params: { world, deployment: address },
    }),
});

/** Of the world that is open. What has been read for the navigation is not read again. */
function useWorldItems(world: string | undefined, navigate: Navigate): Item[] {
  const options = { enabled: world !== undefined };
  const of = world ?? '';
  const events = useEvents(of, options).data?.data ?? [];
  const schemas = useSchemas(of, options).data?.data ?? [];
  const deployments = useDeployments(of, 1, options).data?.data ?? [];
  if (world === undefined) return [];
  return [
    {
      key: 'map',
      kind: 'Page',
      label: 'Map of the world',
      go: () => void navigate({ to: '/worlds/$world/map', params: { world } }),
    },
    ...deployments.map((one) => deploymentItem(navigate, world, one)),
    ...events.map((one) => eventItem(navigate, world, one)),
    ...schemas.map(
      ({ name }): Item => ({
        key: `schema ${name}`,
        kind: 'Entity schema',
        label: name,
        go: () => void navigate({ to: '/worlds/$world/schemas/$schema', params: { world, schema: name } }),
      }),
    ),
  ];
}

/** Events and deployments of the worlds that were changed last. */
function useOtherWorlds(worlds: readonly World[], navigate: Navigate): Item[] {
  const orrery = useOrrery();
  const latest = worlds.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt)).slice(0, OTHER_WORLDS);
  const queries = useQueries({
    queries: latest.map(({ address }) => ({
      queryKey: ['palette', address],
      queryFn: ({ signal }: { signal: AbortSignal }) => readWorld(orrery, address, signal),
      staleTime: 60_000,
    })),
  });
  return latest.flatMap(({ address, name }, at) => {
    const { events = [], deployments = [] } = queries[at]?.data ?? {};
    return [
      ...deployments.map((one) => deploymentItem(navigate, address, one, name)),
      ...events.map((one) => eventItem(navigate, address, one, name)),
    ];
  });
}

async function readWorld(orrery: Orrery, worldAddress: string, signal: AbortSignal) {
  const init = { path: { worldAddress }, query: { limit: 100 }, signal };
  const [events, deployments] = await Promise.all([orrery.get(EVENTS, init), orrery.get(DEPLOYMENTS, init)]);
  return { events, deployments };
}

/** Schemas in whose instances a text is searched, and instances of each. */
const SEARCHED_SCHEMAS = 10;
const INSTANCES_EACH = 5;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Of the deployment that is open: its parts, the instance and the entry that a text names. */
function useDeploymentItems(ref: DeploymentRef | undefined, text: string, navigate: Navigate): Item[] {
  const wanted = text.trim();
  const found = useInstances(ref, wanted);
  const entry = useGet(
    `${HISTORY}/{historyId}`,
    { path: { ...deploymentPath(ref ?? NOWHERE), historyId: wanted } },
    { enabled: ref !== undefined && UUID.test(wanted) },
  ).data;
  if (ref === undefined) return [];
  const live = { to: '/worlds/$world/deployments/$deployment/live', params: ref } as const;
  const seq =
    /^#?(\d{1,15})$/.exec(wanted)?.[1] ?? (UUID.test(wanted) && entry ? String(entry.seq) : undefined);
  return [
    ...(seq === undefined
      ? []
      : [
          {
            key: 'entry',
            kind: 'Entry',
            label: `Entry ${seq}`,
            // What was typed finds it.
            detail: wanted,
            go: () => void navigate({ ...live, search: { seq: Number(seq) } }),
          },
        ]),
    ...TABS.map(
      ([to, label]): Item => ({
        key: `tab ${to}`,
        kind: 'Page',
        label,
        detail: 'this deployment',
        go: () => void navigate({ to: `/worlds/$world/deployments/$deployment/${to}`, params: ref }),
      }),
    ),
    ...found.map(
      (instance): Item => ({
        key: `instance ${instance}`,
        kind: 'Instance',
        label: instance,
        detail: 'its changes',
        go: () => void navigate({ ...live, search: { instance } }),
      }),
    ),
  ];
}

const NOWHERE: DeploymentRef = { world: '', deployment: '' };

/** Keys of instances that have a text in their ids. */
function useInstances(ref: DeploymentRef | undefined, text: string): readonly string[] {
  const isAsked = ref !== undefined && text.length >= 2 && text.length <= 200;
  const { data } = useRead(
    [...deploymentKey(ref ?? NOWHERE), 'instances', 'named', text],
    async (orrery, signal) => {
      const path = deploymentPath(ref ?? NOWHERE);
      const schemas = await readAll(orrery, SCHEMAS, { path: { worldAddress: path.worldAddress }, signal });
      const lists = await Promise.all(
        schemas.data.slice(0, SEARCHED_SCHEMAS).map(({ name: entitySchema }) => {
          const where = idHas(text);
          return orrery.get(INSTANCES, {
            path,
            query: { entitySchema, where, limit: INSTANCES_EACH },
            signal,
          });
        }),
      );
      return lists.flat().map(({ entitySchema, instanceId }) => `${entitySchema}:${instanceId}`);
    },
    { enabled: isAsked },
  );
  return (isAsked && data) || [];
}
