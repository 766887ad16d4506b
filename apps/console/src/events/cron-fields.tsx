import { useEffect, useState } from 'react';
import { useNextTimes } from '../api/deployments.js';
import { TextField } from '../ui/field.js';
import { JsonEditor } from '../ui/json-editor/json-editor.js';
import { problemAt, problemsOf, wordsOf } from '../ui/messages.js';
import { Time } from '../ui/values.js';
import type { PartProps } from './version-form.js';

export function CronFields({ draft, field, json }: PartProps) {
  const next = useNextTimes(
    useSettled(draft.schedule.trim()),
    useSettled(draft.timezone.trim()) || 'UTC',
    null,
  );
  const ofSchedule = field('schedule', '/executionSettings/cron/schedule');
  const ofZone = field('timezone', '/executionSettings/cron/timezone');
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <div className="space-y-4">
        <TextField
          {...ofSchedule}
          required
          hint="Five fields: minute, hour, day of month, month, day of week."
          error={ofSchedule.error ?? problemAt(next.error, '/schedule')}
        />
        <TextField {...ofZone} placeholder="UTC" error={ofZone.error ?? problemAt(next.error, '/timezone')} />
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
        {...json('cronInput', '/executionSettings/cron/input')}
        hint="A template: counter, scheduledAt and cronState may stand in {{ }}."
        rows={6}
      />
    </div>
  );
}

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
