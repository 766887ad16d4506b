import { fail } from '../frame.js';

const FIXED = /^([+-])?(\d\d):(\d\d)$/;

/** Seconds east of UTC at an instant (ms since 1970), for a fixed offset (`-02:30`) or an IANA time zone. */
export function offsetSeconds(zone: string, instant: number): number {
  const fixed = FIXED.exec(zone);
  if (fixed === null) return ianaOffset(zone, instant);
  return (Number(fixed[2]) * 3600 + Number(fixed[3]) * 60) * (fixed[1] === '-' ? -1 : 1);
}

function ianaOffset(zone: string, instant: number): number {
  const parts = new Map(
    formatter(zone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const local = new Date(0);
  local.setUTCFullYear(part('year'), part('month') - 1, part('day'));
  local.setUTCHours(part('hour'), part('minute'), part('second'));
  return Math.round((local.getTime() - Math.floor(instant / 1000) * 1000) / 1000);
}

function formatter(timeZone: string): Intl.DateTimeFormat {
  try {
    const numeric = 'numeric' as const;
    const date = { year: numeric, month: numeric, day: numeric };
    const time = { hour: numeric, minute: numeric, second: numeric };
    return new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...date, ...time });
  } catch {
    return fail(`"${timeZone.slice(0, 40)}" is not a time zone`);
  }
}
