import type { EventVersion } from '../api/records.js';

export type NodeKind = 'trigger' | 'event' | 'schema';

/** A node of the map: its kind and its name are its key. */
export interface MapNode {
  readonly key: string;
  readonly kind: NodeKind;
  readonly name: string;
  /** Such as a schedule, or a price. */
  readonly words?: string | undefined;
}

/** `reads` goes from a schema to an event; `changes` from an event to a schema; `starts` to an event. */
export type EdgeKind = 'reads' | 'changes' | 'starts';

export interface MapEdge {
  readonly kind: EdgeKind;
  readonly from: string;
  readonly to: string;
}

export interface WorldGraph {
  readonly nodes: readonly MapNode[];
  readonly edges: readonly MapEdge[];
}

type Version = Pick<
  EventVersion,
  'event' | 'readEntities' | 'stateChanges' | 'executionSettings' | 'followUps'
>;

export const keyOf = (kind: NodeKind, name: string): string => `${kind} ${name}`;

/** What reads, changes and starts what, by one version of each event. What is named and is not there is left out. */
export function graphOf(schemas: readonly string[], versions: readonly Version[]): WorldGraph {
  const events = new Set(versions.map(({ event }) => event));
  const triggers = versions.flatMap((version) => triggerOf(version) ?? []);
  const nodes: MapNode[] = [
    ...triggers.map(({ node }) => node),
    ...versions.map(({ event }): MapNode => ({ key: keyOf('event', event), kind: 'event', name: event })),
    ...schemas.map((name): MapNode => ({ key: keyOf('schema', name), kind: 'schema', name })),
  ];
  const edges = versions.flatMap((version) => edgesOf(version, schemas, events));
  const all = [...triggers.map(({ edge }) => edge), ...edges];
  return {
    nodes: unique(nodes, ({ key }) => key),
    edges: unique(all, ({ kind, from, to }) => `${kind} ${from} ${to}`),
  };
}

function edgesOf(version: Version, schemas: readonly string[], events: ReadonlySet<string>): MapEdge[] {
  const { event, readEntities } = version;
  const own = keyOf('event', event);
  const known = new Set(schemas);
  return [
    ...readEntities
      .filter(({ schema }) => known.has(schema))
      .map(({ schema }): MapEdge => ({ kind: 'reads', from: keyOf('schema', schema), to: own })),
    ...changesOf(version, schemas).map(
      (schema): MapEdge => ({ kind: 'changes', from: own, to: keyOf('schema', schema) }),
    ),
    ...followsOf(version)
      .filter((name) => events.has(name))
      .map((name): MapEdge => ({ kind: 'starts', from: own, to: keyOf('event', name) })),
  ];
}

/** Without a list every schema may be changed. */
export const changesOf = (
  { stateChanges }: Pick<Version, 'stateChanges'>,
  schemas: readonly string[],
): string[] =>
  stateChanges === null ? [...schemas] : schemas.filter((name) => Object.hasOwn(stateChanges, name));

/** Events that it sets; one whose name is computed is not known here. */
export const followsOf = ({ followUps = [] }: Pick<Version, 'followUps'>): string[] =>
  followUps.flatMap((one) =>
    'event' in one && typeof one.event === 'string' && !one.event.includes('{{') ? [one.event] : [],
  );

function triggerOf({ event, executionSettings }: Version): { node: MapNode; edge: MapEdge } | undefined {
  const { visibility, cron, priceUsd } = executionSettings ?? {};
  const to = keyOf('event', event);
  if (visibility === 'cron' && cron) {
    const key = keyOf('trigger', `schedule ${cron.schedule}`);
    const node: MapNode = { key, kind: 'trigger', name: 'Schedule', words: cron.schedule };
    return { node, edge: { kind: 'starts', from: key, to } };
  }
  if (visibility !== 'public') return undefined;
  const words = priceUsd ? `$${priceUsd}` : 'free';
  const key = keyOf('trigger', `wallets ${words}`);
  return { node: { key, kind: 'trigger', name: 'Wallets', words }, edge: { kind: 'starts', from: key, to } };
}

function unique<T>(items: readonly T[], keyOfItem: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [keyOfItem(item), item])).values()];
}
