import { useQueries } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { keyOf as readKey } from '../api/read.js';
import type { Event, EventVersion } from '../api/records.js';
import { eventPath, useEvents, useSchemas, useWorld, VERSION } from '../api/worlds.js';
import { useOrrery } from '../session/session.js';
import { AwaitPage } from '../ui/await-page.js';
import { ButtonLink } from '../ui/button.js';
import { classes, SCROLLABLE } from '../ui/classes.js';
import { Await, ErrorNote, Progress } from '../ui/messages.js';
import { Empty, Page, Section } from '../ui/page.js';
import { type Column, Table } from '../ui/table.js';
import { changesOf, followsOf, graphOf, type MapEdge, type MapNode, type WorldGraph } from './graph.js';
import { layoutOf, NODE, pathOf } from './layout.js';

/** Events that a person can follow at once; the page of the world lists all. */
const MOST_EVENTS = 60;

/** Which event reads and changes which schema, and what starts it. */
export default function MapPage() {
  const { world } = useParams({ from: '/worlds/$world/map' });
  return (
    <AwaitPage query={useWorld(world)} what="world">
      {({ name }) => (
        <Page
          title={`Map of ${name}`}
          lead="What each event reads and changes, and what starts it, by its latest version. A click leads there."
          actions={
            <ButtonLink to="/worlds/$world" params={{ world }}>
              To the world
            </ButtonLink>
          }
        >
          <Events world={world} />
        </Page>
      )}
    </AwaitPage>
  );
}

const Events = ({ world }: { world: string }) => (
  <Await query={useEvents(world)} what="the events">
    {({ data }) => <OfEvents world={world} events={data} />}
  </Await>
);

function OfEvents({ world, events }: { world: string; events: readonly Event[] }) {
  const schemas = useSchemas(world);
  const shown = events.slice(0, MOST_EVENTS).filter(({ latestVersion }) => latestVersion !== null);
  const { versions, error, isWhole } = useLatest(world, shown);
  if (error !== undefined) return <ErrorNote title="The versions could not be read" error={error} />;
  if (!isWhole || schemas.data === undefined) return <Progress label="Loading the versions" />;
  const names = schemas.data.data.map(({ name }) => name);
  if (versions.length === 0)
    return (
      <Empty title="There is nothing to draw yet.">
        Events and entity schemas of the world are drawn here.
      </Empty>
    );
  return (
    <>
      {events.length > MOST_EVENTS && <p className="mb-3 text-muted">The first {MOST_EVENTS} events.</p>}
      <Drawing world={world} graph={graphOf(names, versions)} />
      <Section title="The same in words" className="mt-6">
        <Table
          label="Events of the map"
          columns={columnsOf(world, names)}
          rows={versions}
          rowKey={({ event }) => event}
        />
      </Section>
    </>
  );
}

/** The latest version of each event. */
function useLatest(world: string, events: readonly Event[]) {
  const orrery = useOrrery();
  const queries = useQueries({
    queries: events.map(({ name, latestVersion }) => {
      const path = { ...eventPath({ world, event: name }), version: latestVersion ?? 1 };
      return {
        queryKey: [...readKey(VERSION, path), 'map'],
        queryFn: ({ signal }: { signal: AbortSignal }) => orrery.get(VERSION, { path, signal }),
        staleTime: 30_000,
      };
    }),
  });
  return {
    versions: queries.flatMap(({ data }) => data ?? []),
    error: queries.find(({ error }) => error !== null)?.error ?? undefined,
    isWhole: queries.every(({ data }) => data !== undefined),
  };
}

/** Room for lines that go around a column, and for arrows. */
const MARGIN = 72;

function Drawing({ world, graph }: { world: string; graph: WorldGraph }) {
  const { nodes, edges } = graph;
  const layout = useMemo(() => layoutOf(graph), [graph]);
  const [active, setActive] = useState<string>();
  const isNear = ({ from, to }: MapEdge) => active === undefined || from === active || to === active;
  return (
    <>
      <Legend />
      <section
        aria-label="The map"
        {...SCROLLABLE}
        className="overflow-auto rounded-lg border border-line bg-surface"
      >
        <div
          className="relative mx-auto"
          style={{ width: layout.width + 2 * MARGIN, height: layout.height + 2 * 24 }}
        >
          <svg
            aria-hidden="true"
            className="absolute inset-0 size-full"
            viewBox={`${-MARGIN} -24 ${layout.width + 2 * MARGIN} ${layout.height + 2 * 24}`}
          >
            <defs>
              {Object.entries(LINES).map(([kind, { colour }]) => (
                <marker
                  key={kind}
                  id={`map-${kind}`}
                  viewBox="0 0 8 8"
                  refX="7"
                  refY="4"
                  markerWidth="7"
                  markerHeight="7"
                  orient="auto"
                >
                  <path d="M 0 0 L 8 4 L 0 8 z" className={colour.replace('stroke', 'fill')} />
                </marker>
              ))}
            </defs>
            {edges.map((edge) => {
              const [from, to] = [layout.places.get(edge.from), layout.places.get(edge.to)];
              if (from === undefined || to === undefined) return null;
              const { colour, dash } = LINES[edge.kind];
              return (
                <path
                  key={`${edge.kind} ${edge.from} ${edge.to}`}
                  d={pathOf(from, to)}
                  className={classes('fill-none', colour, !isNear(edge) && 'opacity-15')}
                  strokeWidth={1.5}
                  strokeDasharray={dash}
                  markerEnd={`url(#map-${edge.kind})`}
                />
              );
            })}
          </svg>
          {nodes.map((node) => {
            const place = layout.places.get(node.key);
            return (
              place && (
                <div
                  key={node.key}
                  className="absolute"
                  style={{
                    left: place.x + MARGIN,
                    top: place.y + 24,
                    width: NODE.width,
                    height: NODE.height,
                  }}
                >
                  <Box world={world} node={node} onActive={setActive} />
                </div>
              )
            );
          })}
        </div>
      </section>
    </>
  );
}

const LINES = {
  reads: { colour: 'stroke-line-strong', dash: '4 3', words: 'reads' },
  changes: { colour: 'stroke-accent', dash: undefined, words: 'may change' },
  starts: { colour: 'stroke-brass', dash: undefined, words: 'starts' },
} as const satisfies Record<MapEdge['kind'], object>;

const Legend = () => (
  <p className="mb-2 flex flex-wrap gap-x-5 text-sm text-muted">
    {Object.values(LINES).map(({ colour, dash, words }) => (
      <span key={words} className="inline-flex items-center gap-2">
        <svg aria-hidden="true" viewBox="0 0 32 8" className="h-2 w-8">
          <path
            d="M 0 4 H 32"
            className={classes('fill-none', colour)}
            strokeWidth={1.5}
            strokeDasharray={dash}
          />
        </svg>
        {words}
      </span>
    ))}
  </p>
);

const BOX = 'flex size-full flex-col justify-center rounded-md border px-2.5 text-sm leading-4';

interface BoxProps {
  world: string;
  node: MapNode;
  /** Called with the key of a node that is looked at; undefined: no longer. */
  onActive: (key: string | undefined) => void;
}

function Box({ world, node: { key, kind, name, words }, onActive }: BoxProps) {
  const looked = {
    onMouseEnter: () => onActive(key),
    onFocus: () => onActive(key),
    onMouseLeave: () => onActive(undefined),
    onBlur: () => onActive(undefined),
  };
  if (kind === 'trigger')
    return (
      <div className={`${BOX} border-dashed border-line-strong bg-sunken`}>
        <span className="truncate">{name}</span>
        <span className="truncate text-muted">{words}</span>
      </div>
    );
  if (kind === 'event')
    return (
      <Link
        to="/worlds/$world/events/$event"
        params={{ world, event: name }}
        className={`${BOX} border-brass bg-surface font-medium hover:bg-hover`}
        title={`Event ${name}`}
        {...looked}
      >
        <span className="truncate">{name}</span>
      </Link>
    );
  return (
    <Link
      to="/worlds/$world/schemas/$schema"
      params={{ world, schema: name }}
      className={`${BOX} border-accent bg-surface font-medium hover:bg-hover`}
      title={`Entity schema ${name}`}
      {...looked}
    >
      <span className="truncate">{name}</span>
    </Link>
  );
}

const listed = (names: readonly string[]): string => names.join(', ') || '–';

const columnsOf = (world: string, schemas: readonly string[]): readonly Column<EventVersion>[] => [
  {
    header: 'Event',
    cell: ({ event }) => (
      <Link to="/worlds/$world/events/$event" params={{ world, event }} className="link font-medium">
        {event}
      </Link>
    ),
  },
  { header: 'Started by', cell: startedBy },
  {
    header: 'Reads',
    cell: ({ readEntities }) => listed([...new Set(readEntities.map(({ schema }) => schema))]),
  },
  { header: 'May change', cell: (version) => listed(changesOf(version, schemas)) },
  { header: 'Sets', cell: (version) => listed(followsOf(version)) },
];

function startedBy({ executionSettings }: EventVersion): string {
  const { visibility = 'admin', cron, priceUsd } = executionSettings ?? {};
  if (visibility === 'cron') return `its owner, a schedule (${cron?.schedule ?? ''})`;
  return visibility === 'public' ? `its owner, wallets (${priceUsd ? `$${priceUsd}` : 'free'})` : 'its owner';
}
