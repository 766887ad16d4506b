import type { EntityInstance, Orrery } from '@orrery/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { deploymentKey, deploymentPath, HISTORY, INSTANCES } from '../api/deployments.js';
import type { DeploymentRef } from '../api/records.js';
import { useOrrery } from '../session/session.js';

/** Which instances of one schema, in which order. */
export interface DataQuery {
  readonly schema: string;
  /** CEL over `instance` and `id`; undefined: all. */
  readonly where: string | undefined;
  readonly orderBy: string;
}

const PAGE = 100;

/** What belongs to instances has a key that begins with this one: a change of one makes all of it old. */
export const instancesKey = (ref: DeploymentRef) => [...deploymentKey(ref), 'instances'];

/** The instances that a query finds, page by page, with their number. */
export function useFound(ref: DeploymentRef, { schema, where, orderBy }: DataQuery) {
  const orrery = useOrrery();
  return useInfiniteQuery({
    queryKey: [...instancesKey(ref), 'found', { schema, where, orderBy }],
    queryFn: async ({ signal, pageParam }) => {
      const cursor = pageParam === null ? { count: 'true' as const } : { cursor: pageParam };
      const query = {
        entitySchema: schema,
        orderBy,
        limit: PAGE,
        ...(where !== undefined && { where }),
        ...cursor,
      };
      const { data, pagination, warnings } = await orrery.answer('get', INSTANCES, {
        path: deploymentPath(ref),
        query,
        signal,
      });
      return { data, total: pagination.total, next: 'next' in pagination ? pagination.next : null, warnings };
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
}

/** All instances that a query finds, as they were after the last entry: what changes meanwhile is no part of it. */
export async function readFound(
  orrery: Orrery,
  ref: DeploymentRef,
  { schema, where, orderBy }: DataQuery,
  onRead: (count: number) => void,
): Promise<EntityInstance[]> {
  const [last] = await orrery.get(HISTORY, {
    path: deploymentPath(ref),
    query: { include: 'all', limit: 1 },
  });
  const found: EntityInstance[] = [];
  const query = {
    entitySchema: schema,
    orderBy,
    ...(where !== undefined && { where }),
    ...(last && { atSeq: last.seq }),
  };
  for await (const instance of orrery.deployment(ref.world, ref.deployment).instances(query)) {
    found.push(instance);
    if (found.length % PAGE === 0) onRead(found.length);
  }
  return found;
}

/** A condition for instances whose id has a text, also in capitals or without: PostgreSQL decides it. */
export const idHas = (text: string): string => {
  const small = text.toLowerCase();
  const forms = new Set([text, small, text.toUpperCase(), small.charAt(0).toUpperCase() + small.slice(1)]);
  const tests = [...forms].map((form) => `id.contains(${JSON.stringify(form)})`);
  return tests.length === 1 ? (tests[0] ?? '') : `(${tests.join(' || ')})`;
};

/** What a person has entered to find instances, as a condition; undefined: all. */
export function whereOf(text: string, condition: string): string | undefined {
  const parts = [
    text.trim() !== '' && idHas(text.trim()),
    condition.trim() !== '' && (text.trim() === '' ? condition.trim() : `(${condition.trim()})`),
  ].filter((part) => part !== false);
  return parts.length === 0 ? undefined : parts.join(' && ');
}

/** An attribute as `orderBy` names it (docs/queries.md). */
export const orderName = (attribute: string): string =>
  /^[A-Za-z_]\w*$/.test(attribute) && attribute !== 'id' ? attribute : JSON.stringify(attribute);

/** What a click on a column leads to: rising, falling, then without an order of its own. */
export function nextOrder(now: string | undefined, name: string): string | undefined {
  if (now === name) return `${name} desc`;
  return now === `${name} desc` ? undefined : name;
}
