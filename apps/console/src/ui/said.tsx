import { classes } from './classes.js';

/** What the service said beside an answer; it marks warnings with the word. */
export function Said({ message }: { message: string | undefined }) {
  if (!message) return null;
  const isWarning = message.includes('Warning:');
  return (
    <p
      role="status"
      className={classes(
        'my-3 rounded-md border px-3.5 py-2.5 break-words',
        isWarning ? 'border-warn/40 bg-warn-soft' : 'border-ok/30 bg-ok-soft',
      )}
    >
      {message}
    </p>
  );
}
