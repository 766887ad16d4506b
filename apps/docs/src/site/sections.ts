/**
 * The side bar, in the order in which one reads: each page by its path below `/docs/`, and `label` where its title is too
 * long for the bar. A new page of `docs/` gets its line here; a test fails for one that has none.
 */
export const SECTIONS: readonly { readonly title: string; readonly pages: readonly Entry[] }[] = [
  {
    title: 'Start',
    pages: [
      '',
      { path: 'start', label: 'Quick start' },
      'examples',
      'console',
      { path: 'cli', label: 'The command orrery' },
      { path: 'sdk', label: 'The SDK' },
    ],
  },
  {
    title: 'Concepts',
    pages: [
      'concepts',
      'glossary',
      { path: 'schemas', label: 'Attributes and contracts' },
      'templates',
      { path: 'execution', label: 'What an execution does' },
      { path: 'ai', label: 'AI models' },
      'queries',
      'schedules',
      { path: 'timers', label: 'Follow-ups and timers' },
      { path: 'history', label: 'History and proof' },
      'what-if',
      'public-execution',
      'play',
      { path: 'payments', label: 'Payments' },
      { path: 'on-chain', label: 'Pushes to chains' },
      'webhooks',
      { path: 'subscribing', label: 'Following the journals' },
      { path: 'mistakes', label: 'Mistakes and warnings' },
    ],
  },
  {
    title: 'Guides',
    pages: [
      'guides/ai-world',
      'guides/paid-event',
      'guides/every-night',
      'guides/leaderboard',
      'guides/on-a-chain',
      'guides/an-agent-plays',
    ],
  },
  { title: 'API reference', pages: ['reference', 'reference/*', 'reference/records', 'reference/errors'] },
  {
    title: 'Operations',
    pages: [
      'operations',
      { path: 'scaling', label: 'Scaling' },
      'reliability',
      'performance',
      'gateway',
      'catalog',
    ],
  },
  { title: 'Decisions', pages: [{ path: 'adr', label: 'All decisions' }, 'adr/*'] },
];

/** A path; `…/*` stands for all pages below that are named nowhere else, in their order. */
export type Entry = string | { readonly path: string; readonly label: string };
