import { useEffect, useState } from 'react';
import { Progress } from '../ui/progress.js';
import type { Outcome } from './execute.js';

/** Says what is waited for and for how long already. */
export function Waiting({ what, isAi }: { what: Outcome['kind']; isAi: boolean }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((now) => now + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      <Progress
        label={isAi ? `Waiting for the model (${what})` : what === 'dry run' ? 'Trying' : 'Executing'}
      />
      {seconds >= 2 && (
        <p className="text-sm text-muted" aria-hidden="true">
          {seconds} s
        </p>
      )}
      {isAi && what === 'execution' && (
        <p className="text-sm text-muted">
          You may leave this page: the execution goes on, and the history will show it.
        </p>
      )}
    </>
  );
}
