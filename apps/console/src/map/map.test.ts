import { expect, it } from 'vitest';
import { graphOf, keyOf, type MapEdge } from './graph.js';
import { layoutOf, NODE, pathOf } from './layout.js';

const version = (event: string, members: object = {}) =>
  ({ event, readEntities: [], stateChanges: {}, executionSettings: null, ...members }) as never;

it('draws what an event reads, changes and sets, and what starts it', () => {
  const { nodes, edges } = graphOf(
    ['horse', 'track'],
    [
      version('race', {
        readEntities: [{ schema: 'horse' }, { schema: 'gone' }],
        stateChanges: { horse: 'partial' },
        executionSettings: { visibility: 'public', priceUsd: 0.5 },
        followUps: [{ event: 'feed' }, { event: '{{ input.next }}' }, { cancel: 'x' }, { event: 'unknown' }],
      }),
      version('feed', {
        executionSettings: { visibility: 'cron', cron: { schedule: '0 * * * *' } },
        stateChanges: null,
      }),
    ],
  );
  expect(nodes.map(({ name, words }) => [name, words])).toEqual([
    ['Wallets', '$0.5'],
    ['Schedule', '0 * * * *'],
    ['race', undefined],
    ['feed', undefined],
    ['horse', undefined],
    ['track', undefined],
  ]);
  expect(edges.map(({ kind, from, to }) => `${from} ${kind} ${to}`)).toEqual([
    'trigger wallets $0.5 starts event race',
    'trigger schedule 0 * * * * starts event feed',
    'schema horse reads event race',
    'event race changes schema horse',
    'event race starts event feed',
    'event feed changes schema horse',
    'event feed changes schema track',
  ]);
});

const crossings = (edges: readonly MapEdge[], yOf: (key: string) => number): number =>
  edges.reduce(
    (sum, a, at) =>
      sum +
      edges.slice(at + 1).filter((b) => (yOf(a.from) - yOf(b.from)) * (yOf(a.to) - yOf(b.to)) < 0).length,
    0,
  );

it('orders the columns so that few lines cross, and none covers another', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const graph = graphOf(
    names,
    names.map((name, at) =>
      version(`event ${name}`, { stateChanges: { [names[names.length - 1 - at] ?? '']: 'full' } }),
    ),
  );
  const { places, width, height } = layoutOf(graph);
  expect(crossings(graph.edges, (key) => places.get(key)?.y ?? 0)).toBe(0);
  expect(new Set([...places.values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(10);
  for (const { x, y } of places.values()) {
    expect(x + NODE.width).toBeLessThanOrEqual(width);
    expect(y + NODE.height).toBeLessThanOrEqual(height);
  }
  expect(layoutOf(graph)).toEqual(layoutOf(graph));
  expect(layoutOf({ nodes: [], edges: [] }).places.size).toBe(0);
});

it('a line goes from side to side, and around a column', () => {
  expect(pathOf({ x: 0, y: 0 }, { x: 300, y: 0 })).toBe('M 180 20 C 240 20, 240 20, 300 20');
  expect(pathOf({ x: 300, y: 0 }, { x: 0, y: 0 })).toBe('M 300 20 C 240 20, 240 20, 180 20');
  expect(pathOf({ x: 100, y: 0 }, { x: 100, y: 56 })).toMatch(/^M 100 20 C \d+(\.\d+)? 20/);
  expect(keyOf('event', 'x')).toBe('event x');
});
