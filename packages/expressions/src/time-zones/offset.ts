/** The clock on the wall of a time zone (IANA name). @throws RangeError for a name that is no time zone */
export function wallClock(timeZone: string): Intl.DateTimeFormat {
  const numeric = 'numeric' as const;
  const date = { year: numeric, month: numeric, day: numeric };
  const time = { hour: numeric, minute: numeric, second: numeric };
  return new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...date, ...time });
}

/** How far a clock on the wall is ahead of UTC, in milliseconds. @param instant milliseconds since the epoch */
export function offsetOf(clock: Intl.DateTimeFormat, instant: number): number {
  const parts = clock.formatToParts(instant);
  const part = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((one) => one.type === type)?.value);
  const local = new Date(0);
  local.setUTCFullYear(part('year'), part('month') - 1, part('day'));
  local.setUTCHours(part('hour'), part('minute'), part('second'));
  return local.getTime() - Math.floor(instant / 1000) * 1000;
}
