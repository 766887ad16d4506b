import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { nextTimesQuery } from '../api/schedules.js';
import { useOrrery } from '../session/use-session.js';
import { problemAt, problemsOf, wordsOf } from '../ui/error-note.js';
import { TextField } from '../ui/field.js';
import { JsonEditor } from '../ui/json-editor/json-editor.js';
import { Time } from '../ui/time.js';
import type { PartProps } from './version-problems.js';

/** A schedule, what it means in words, and when it is due next. */
export function CronFields({ draft, change, problems }: Omit<PartProps, 'schemas'>) {
  const schedule = useSettled(draft.schedule.trim());
  const timezone = useSettled(draft.timezone.trim()) || 'UTC';
  const orrery = useOrrery();
  const next = useQuery({
    ...nextTimesQuery(orrery, schedule, timezone, null),
    enabled: schedule !== '',
  });
  const wrong = (part: string) => problems.at(`/executionSettings/cron/${part}`);
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <div className="space-y-4">
        <TextField
          label="Schedule"
          required
          value={draft.schedule}
          onChange={(value) => change({ schedule: value })}
          hint="Five fields: minute, hour, day of month, month, day of week."
          error={wrong('schedule') ?? problemAt(next.error, '/schedule')}
        />
        <TextField
          label="Time zone"
          value={draft.timezone}
          placeholder="UTC"
          onChange={(value) => change({ timezone: value })}
          error={wrong('timezone') ?? problemAt(next.error, '/timezone')}
        />
        <section aria-label="Next due times" aria-live="polite" className="text-sm">
          {next.error && !isAtField(next.error) && <p className="text-bad">{wordsOf(next.error)}</p>}
          {next.data && (
            <>
              <p className="font-medium">{next.data.description ?? 'Next due'}</p>
              <ol className="mt-1 space-y-0.5 text-muted">
                {next.data.times.map((at) => (
                  <li key={at}>
                    <Time at={at} /> (<Time at={at} relative />)
                  </li>
                ))}
              </ol>
            </>
          )}
        </section>
      </div>
      <JsonEditor
        label="Input of each run"
        hint="A template: counter, scheduledAt and cronState may stand in {{ }}."
        value={draft.cronInput}
        onChange={(cronInput) => change({ cronInput })}
        problems={problems.within('/executionSettings/cron/input')}
        rows={6}
      />
    </div>
  );
}

/** Whether the field of the schedule or of the zone says it. */
const isAtField = (error: unknown): boolean =>
  problemsOf(error).some(({ pointer }) => pointer === '/schedule' || pointer === '/timezone');

/** How long a text must stay the same before it is asked about, in milliseconds. */
const SETTLE_MS = 300;

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
