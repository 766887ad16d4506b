import type { components, Orrery } from '@orrery/sdk';
import { DEPLOYMENTS, INSTANCES } from '../api/deployments.js';
import type { Deployment } from '../api/records.js';
import type { SchemaRef } from './attribute-form.js';

type Check = components['schemas']['InstanceCheck'];
type Mapping = components['schemas']['InstanceMapping'];

/** What the requests through all instances of a deployment have counted. */
export interface Counted {
  readonly lookedAt: number;
  readonly unfit: number;
  /** Mapped, or such as would be. */
  readonly mapped: number;
  readonly misfits: Check['misfits'];
}
export const NOTHING_COUNTED: Counted = { lookedAt: 0, unfit: 0, mapped: 0, misfits: [] };

interface Asked {
  readonly entitySchema: string;
  readonly mapping?: object;
  readonly where?: string;
  readonly fillDefaults?: boolean;
}

/**
 * Asks for all instances, request by request, and tells after each what they come to so far. What was mapped stays so where
 * one of them fails.
 */
export async function* throughInstances(
  orrery: Orrery,
  { worldAddress, address }: Pick<Deployment, 'worldAddress' | 'address'>,
  verb: 'check' | 'map',
  asked: Asked,
  signal?: AbortSignal,
): AsyncGenerator<Counted, void, undefined> {
  const path = { worldAddress, address };
  let counted = NOTHING_COUNTED;
  let cursor: string | undefined;
  do {
    const body = { ...asked, ...(cursor !== undefined && { cursor }) } as never;
    const page: Check | Mapping =
      verb === 'check'
        ? await orrery.post(`${INSTANCES}/check`, { path, body, signal })
        : await orrery.post(`${INSTANCES}/map`, { path, body, signal });
    counted = {
      lookedAt: counted.lookedAt + page.lookedAt,
      unfit: counted.unfit + page.unfit,
      mapped: counted.mapped + ('mapped' in page ? page.mapped : page.mappable),
      misfits: [...counted.misfits, ...page.misfits].slice(0, 20),
    };
    yield counted;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}

export interface CountedDeployment extends Counted {
  readonly deployment: Deployment;
}

/** How far a count has come. */
export interface Counting {
  readonly deployments: readonly CountedDeployment[];
  /** How many deployments the world has. */
  readonly of: number;
  /** Instances of all of them so far. */
  readonly lookedAt: number;
}
export const COUNT_BEGINS: Counting = { deployments: [], of: 0, lookedAt: 0 };

/** Counts the deployments of the world, one after the other: how far it has come after each request. */
export async function* countDeployments(
  orrery: Orrery,
  { world, schema }: SchemaRef,
  signal: AbortSignal,
): AsyncGenerator<Counting, void, undefined> {
  let counting = COUNT_BEGINS;
  for await (const page of orrery.pages(DEPLOYMENTS, { path: { worldAddress: world }, signal })) {
    for (const deployment of page.data) {
      const { deployments, lookedAt } = counting;
      let counted = NOTHING_COUNTED;
      for await (counted of throughInstances(orrery, deployment, 'check', { entitySchema: schema }, signal))
        yield { deployments, of: page.pagination.total, lookedAt: lookedAt + counted.lookedAt };
      counting = {
        deployments: [...deployments, { deployment, ...counted }],
        of: page.pagination.total,
        lookedAt: lookedAt + counted.lookedAt,
      };
      yield counting;
    }
  }
}
