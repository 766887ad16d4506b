import { classes } from './classes.js';
import type { NameField } from './field-labels.js';
import { warningsIn } from './warnings.js';

export interface SaidProps {
  message: string | undefined;
  /** What the person calls the part that a warning is about. */
  nameOf?: NameField | undefined;
}

/** What the service said beside an answer: each warning in a line, with the name of the part that it is about. */
export function Said({ message, nameOf = () => undefined }: SaidProps) {
  if (!message) return null;
  const { text, warnings } = warningsIn(message);
  return (
    <div
      role="status"
      className={classes(
        'my-3 space-y-1.5 rounded-md border px-3.5 py-2.5 break-words',
        warnings.length > 0 ? 'border-warn/40 bg-warn-soft' : 'border-ok/30 bg-ok-soft',
      )}
    >
      {text !== '' && <p>{text}</p>}
      {warnings.map(({ pointer, words }) => (
        <p key={`${pointer} ${words}`} title={pointer || undefined}>
          <span className="font-semibold">Warning:</span> {placeOf(pointer, nameOf)}
          {words}
        </p>
      ))}
    </div>
  );
}

function placeOf(pointer: string, nameOf: NameField): string {
  const name = nameOf(pointer);
  return name === undefined ? '' : `${name}: `;
}
