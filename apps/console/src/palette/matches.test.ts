import { expect, it } from 'vitest';
import { type Item, ranked } from './matches.js';

const item = (label: string, kind = 'Event', detail?: string): Item => ({
  key: label,
  kind,
  label,
  detail,
  go: () => undefined,
});
const items = [
  item('Derby', 'World'),
  item('race_result', 'Event', 'Derby'),
  item('trace'),
  item('results of races'),
  item('Season 1', 'Deployment', 'Derby'),
];
const found = (text: string) => ranked(items, text).map(({ label }) => label);

it.each([
  ['', ['Derby', 'race_result', 'trace', 'results of races', 'Season 1']],
  ['race', ['race_result', 'results of races', 'trace']],
  ['derby', ['Derby', 'race_result', 'Season 1']],
  ['race derby', ['race_result']],
  ['DEPLOY', ['Season 1']],
  ['nothing', []],
])('finds by %j, the best first', (text, wanted) => {
  expect(found(text)).toEqual(wanted);
});
