import { expect, it } from 'vitest';
import { cut, playerHead, playerHeading, type Told } from './player-head.js';

const address = `0x0000ff${'1'.repeat(34)}`;
const told = (more: Partial<Told> = {}): Told => ({
  address,
  name: 'Season 1',
  description: null,
  world: { address: '0x', name: 'Derby', description: null, domainTags: [] },
  totals: { instances: 2, entries: 9, executions: 5 },
  ...more,
});
const HOSTILE = `</title><script>alert(1)</script>"'&$&$'\u0000\u0001\u202eabc`;

it('tells a name, a description and a picture, by addresses below the public one', () => {
  const { text } = playerHead(told(), 'https://worlds.example/');
  expect(text).toContain('<title>Season 1 · Derby · Orrery</title>');
  expect(text).toContain(`<link rel="canonical" href="https://worlds.example/play/${address}">`);
  expect(text).toContain('<meta property="og:image" content="https://worlds.example/play/card.png">');
  expect(text).toContain('A living world of 2 entities, after 5 executions.');
});

it('tells the description of the deployment, or else of the world', () => {
  const world = { address: '0x', name: 'Derby', description: 'A racecourse', domainTags: [] };
  expect(playerHead(told({ world }), 'http://x').text).toContain('content="A racecourse"');
  expect(playerHead(told({ world, description: 'Spring' }), 'http://x').text).toContain('content="Spring"');
});

it('tells nothing of what is not published, and asks not to be listed', () => {
  expect(playerHead(undefined, 'http://x').text).toBe(
    '<title>Play · Orrery</title><meta name="robots" content="noindex">',
  );
  expect(playerHeading(undefined).text).toBe('<h1>No world is open here</h1>');
});

it('lets nothing that is written become markup', () => {
  const hostile = told({
    name: HOSTILE,
    description: HOSTILE,
    world: { address: '0x', name: HOSTILE, description: null, domainTags: [] },
  });
  const texts = [playerHead(hostile, 'http://x').text, playerHeading(hostile).text];
  for (const text of texts) {
    expect(text).not.toMatch(/<script|<\/title><s|"'&/);
    expect(text).toContain('&lt;');
  }
  // A mark would turn the rest of the line.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  expect(texts[0]).not.toMatch(/[\u0000-\u0008\u202e]/);
});

it('cuts long texts by whole characters', () => {
  expect(cut('🐎'.repeat(50), 10)).toBe(`${'🐎'.repeat(9)}…`);
  expect(cut('a\n b', 10)).toBe('a   b'.replace('   ', '  '));
  expect(cut('x'.repeat(100_000), 5)).toBe('xxxx…');
  expect(cut('exact', 5)).toBe('exact');
});
