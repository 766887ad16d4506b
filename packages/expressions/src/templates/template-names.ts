/** Names that a direct mutation's template may use (docs/templates.md). */
export const DIRECT_TEMPLATE_NAMES = [
  'input',
  'entities',
  'walletAddress',
  'timestamp',
  'date',
  'unix',
  'deployment',
  'event',
  'world',
] as const;

/**
 * Names that a schedule's input template may use. It makes the input before anything is read, so it has neither
 * `input` nor `entities`.
 */
export const CRON_TEMPLATE_NAMES = [
  'counter',
  'cronState',
  'scheduledAt',
  'walletAddress',
  'timestamp',
  'date',
  'unix',
  'deployment',
  'event',
  'world',
] as const;
