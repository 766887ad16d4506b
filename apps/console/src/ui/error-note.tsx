import { type FieldProblem, OrreryError } from '@orrery/sdk';
import type { ReactNode } from 'react';
import { Button } from './button.js';
import { type NameField, withoutPointer } from './field-labels.js';

export interface ErrorNoteProps {
  error: unknown;
  /** What was tried: "The world was not saved". */
  title?: string | undefined;
  /** Tries again. */
  onRetry?: (() => void) | undefined;
  /** Pointers that are shown at their fields, and not here again. */
  shownElsewhere?: ((pointer: string) => boolean) | undefined;
  /** What the person calls the part that a pointer leads to, such as the label of its field. */
  nameOf?: NameField | undefined;
}

/** Says what the API said: its text, each wrong part, code and request id. Nothing without an error. */
export function ErrorNote({ error, title, onRetry, shownElsewhere = () => false, nameOf }: ErrorNoteProps) {
  if (error === null || error === undefined) return null;
  const all = problemsOf(error);
  // The text of some errors is their first problem.
  const first = withoutPointer(
    wordsOf(error),
    all.map(({ pointer }) => pointer),
  );
  const problems = all.filter(
    ({ pointer, message }) =>
      !shownElsewhere(pointer) && !(pointer === first.pointer && message === first.text),
  );
  return (
    <div role="alert" className="my-3 rounded-md border border-bad/40 bg-bad-soft px-3.5 py-2.5 text-text">
      {title !== undefined && <p className="font-semibold text-bad">{title}</p>}
      <p className="break-words">
        <Place pointer={first.pointer} nameOf={nameOf} /> {first.text}
      </p>
      {problems.length > 0 && (
        <ul className="mt-1.5 space-y-1">
          {problems.map(({ pointer, message, code }) => (
            <li key={`${pointer} ${code} ${message}`} className="break-words">
              <Place pointer={pointer || '/'} nameOf={nameOf} /> {message}
            </li>
          ))}
        </ul>
      )}
      <ErrorCode error={error} pointer={first.pointer} />
      {onRetry !== undefined && (
        <Button size="small" className="mt-2" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** The label of a field, its pointer as a detail; the pointer alone where it has no label. */
function Place({ pointer, nameOf }: { pointer: string | undefined; nameOf: NameField | undefined }) {
  if (pointer === undefined) return null;
  const name = nameOf?.(pointer);
  return name === undefined ? (
    <code className="font-mono text-sm font-semibold">{pointer}</code>
  ) : (
    <span className="font-semibold" title={pointer}>
      {name}:
    </span>
  );
}

function ErrorCode({ error, pointer }: { error: unknown; pointer: string | undefined }): ReactNode {
  if (!(error instanceof OrreryError)) return null;
  const { code, status, requestId } = error;
  const facts = [
    code,
    pointer,
    status > 0 && `HTTP ${status}`,
    requestId !== undefined && `request ${requestId}`,
  ];
  return <p className="mt-1.5 font-mono text-xs break-all text-muted">{facts.filter(Boolean).join(' · ')}</p>;
}

/** The API's own text; of other errors theirs. */
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The wrong parts of the request, each with its JSON pointer. */
export const problemsOf = (error: unknown): readonly FieldProblem[] =>
  error instanceof OrreryError ? error.pointers : [];

/** What the API said about one part of the request; undefined if nothing. */
export const problemAt = (error: unknown, pointer: string): string | undefined =>
  problemsOf(error)
    .filter((one) => one.pointer === pointer)
    .map(({ message }) => message)
    .join(' ') || undefined;
