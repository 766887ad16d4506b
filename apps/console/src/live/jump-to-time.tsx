import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { Button } from '../ui/button.js';
import { wordsOf } from '../ui/messages.js';
import { timeIn, useZone } from '../ui/zone.js';
import { useLive } from './live.js';

/** Leads to the last entry that was committed by a time. */
export function JumpToTime() {
  const { journal, tail, go } = useLive();
  const [text, setText] = useState('');
  const zone = useZone();
  const id = useId();
  const jump = useMutation({
    mutationFn: async (time: Date) => {
      const seq = await journal.seqAt(time, tail.head);
      if (seq === 0) throw new Error('The journal begins later.');
      go(seq);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const time = timeIn(text, zone);
    if (!Number.isNaN(time.getTime())) jump.mutate(time);
  };
  return (
    <form onSubmit={submit} className="inline-flex flex-wrap items-center gap-1.5 text-muted">
      <label htmlFor={id}>{zone === 'utc' ? 'at UTC' : 'at'}</label>
      <input
        id={id}
        type="datetime-local"
        step={1}
        aria-label="Time to go to"
        className="control w-auto py-0.5 text-sm"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit" size="small" pending={jump.isPending} disabled={text === ''}>
        Go
      </Button>
      {jump.isError && (
        <span role="alert" className="text-sm text-bad">
          {wordsOf(jump.error)}
        </span>
      )}
    </form>
  );
}
