/** Names that templates may use, with the JSON type that each always has; undefined where it depends. */
export type NameKinds = Readonly<Record<string, string | undefined>>;

const COMMON: NameKinds = {
  timestamp: 'string',
  date: 'string',
  unix: 'integer',
  deployment: 'string',
  event: 'string',
  world: 'string',
};

/** Names of a direct mutation's template (docs/templates.md). */
export const DIRECT_NAME_KINDS: NameKinds = {
  input: 'object',
  entities: 'object',
  history: 'array',
  walletAddress: undefined,
  ...COMMON,
};

/** Names of a follow-up, which is made once the execution has its result (docs/timers.md). */
const FOLLOW_UP_NAME_KINDS: NameKinds = { ...DIRECT_NAME_KINDS, result: undefined };

/**
 * Names of a schedule's input template. It makes the input before anything is read, so it has neither `input` nor
 * `entities`, and no wallet signs it.
 */
export const CRON_NAME_KINDS: NameKinds = {
  counter: 'integer',
  cronState: 'object',
  scheduledAt: 'string',
  walletAddress: 'null',
  ...COMMON,
};

export const DIRECT_TEMPLATE_NAMES: readonly string[] = Object.keys(DIRECT_NAME_KINDS);
export const FOLLOW_UP_NAMES: readonly string[] = Object.keys(FOLLOW_UP_NAME_KINDS);
export const CRON_TEMPLATE_NAMES: readonly string[] = Object.keys(CRON_NAME_KINDS);
