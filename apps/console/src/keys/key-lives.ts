const LIVES = [
  ['1', 'a day'],
  ['30', '30 days'],
  ['365', 'a year'],
  ['ever', 'for ever'],
] as const;

/** How long a new key is to be good: so many days, for ever, or as long as the key of the session. */
export type Life = (typeof LIVES)[number][0] | 'session';

const DAY_MS = 86_400_000;

/** When a key of that life ends, by RFC 3339; undefined where that is not to be said. */
export const endOf = (life: Life, now: number): string | undefined =>
  life === 'session' || life === 'ever' ? undefined : new Date(now + Number(life) * DAY_MS).toISOString();

/** Whether a key of the session, which ends at `sessionEnd`, cannot make one of that life. */
export function outlives(life: Life, sessionEnd: string | null, now: number): boolean {
  if (sessionEnd === null || life === 'session') return false;
  return life === 'ever' || now + Number(life) * DAY_MS > Date.parse(sessionEnd);
}

/** The lives to choose from. Longer ones than the session's need a wallet that can sign. */
export const livesFor = (
  sessionEnd: string | null,
  canSign: boolean,
  now: number,
): readonly (readonly [Life, string])[] => [
  ...(sessionEnd === null ? [] : [['session', 'as long as this session'] as const]),
  ...LIVES.filter(([life]) => canSign || !outlives(life, sessionEnd, now)),
];
