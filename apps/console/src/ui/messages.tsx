import { type FieldProblem, OrreryError } from '@orrery/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button, Spinner } from './button.js';
import { classes } from './classes.js';
import { failedTitle } from './undecided.js';

export interface ProgressProps {
  /** What is waited for: "Loading the worlds". */
  label: string;
  /** How much is done, 0 to 1; without it nobody knows. */
  value?: number | undefined;
}

export function Progress({ label, value }: ProgressProps) {
  if (value === undefined)
    return (
      <p role="status" className="flex items-center gap-2 py-6 text-muted">
        <Spinner /> {label} …
      </p>
    );
  const percent = Math.round(value * 100);
  return (
    <div className="py-3">
      <p className="mb-1.5 flex justify-between text-sm text-muted">
        <span>{label}</span> <span>{percent} %</span>
      </p>
      <progress
        aria-label={label}
        value={percent}
        max={100}
        className="block h-1.5 w-full appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent motion-safe:[&::-webkit-progress-value]:transition-[width]"
      />
    </div>
  );
}

export interface AwaitProps<T> {
  query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>;
  /** What is loaded: "the worlds". */
  what: string;
  children: (data: T) => ReactNode;
}

/** What a query answered; until then progress, and if it fails what the API said. */
export function Await<T>({ query: { data, error, refetch }, what, children }: AwaitProps<T>) {
  const note = error && (
    <ErrorNote title={`Could not load ${what}`} error={error} onRetry={() => void refetch()} />
  );
  if (data === undefined) return note ?? <Progress label={`Loading ${what}`} />;
  // What was there before stays, with the error above it.
  return (
    <>
      {note}
      {children(data)}
    </>
  );
}

export interface ErrorNoteProps {
  error: unknown;
  /** What could not be read: "The models could not be read". */
  title?: string | undefined;
  /** In place of the title, of a change: "The world was not saved". */
  failed?: string | undefined;
  onRetry?: (() => void) | undefined;
  /** Pointers that are shown at their fields, and not here again. */
  shownElsewhere?: ((pointer: string) => boolean) | undefined;
  /** What the person calls the part that a pointer leads to, such as the label of its field. */
  nameOf?: NameField | undefined;
}

/** Says what the API said: its text, each wrong part, code and request id. Nothing without an error. */
export function ErrorNote({
  error,
  failed,
  title = failed && failedTitle(error, failed),
  onRetry,
  shownElsewhere = () => false,
  nameOf,
}: ErrorNoteProps) {
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
      <p>
        <PartName pointer={first.pointer} nameOf={nameOf} /> {first.text}
      </p>
      {problems.length > 0 && (
        <ul className="mt-1.5 space-y-1">
          {problems.map(({ pointer, message }) => (
            <li key={`${pointer} ${message}`}>
              <PartName pointer={pointer || '/'} nameOf={nameOf} /> {message}
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
function PartName({ pointer, nameOf }: { pointer: string | undefined; nameOf: NameField | undefined }) {
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

export type Problem = Pick<FieldProblem, 'pointer' | 'message'>;

/** Wrong parts of a request, by their pointers into it. */
export class WrongParts extends Error {
  readonly pointers: readonly Problem[];

  constructor(message: string, pointers: readonly Problem[]) {
    super(message);
    this.pointers = pointers;
  }
}

/** Thrown before anything is sent: texts that stand for no value. */
export class Unreadable extends WrongParts {
  constructor(pointers: readonly Problem[]) {
    super('Some of it cannot be read yet.', pointers);
  }
}

/** The wrong parts of the request, each with its JSON pointer. */
export const problemsOf = (error: unknown): readonly Problem[] =>
  error instanceof OrreryError || error instanceof WrongParts ? error.pointers : [];

/** What the API said about one part of the request; undefined if nothing. */
export const problemAt = (error: unknown, pointer: string): string | undefined =>
  problemsOf(error)
    .filter((one) => one.pointer === pointer)
    .map(({ message }) => message)
    .join(' ') || undefined;

/** What the API said about one part of the request and what is in it, by pointers into that. */
export const problemsBelow = (error: unknown, part: string): readonly Problem[] =>
  problemsOf(error)
    .filter(({ pointer }) => isIn(part, pointer))
    .map(({ pointer, message }) => ({ pointer: pointer.slice(part.length), message }));

/** What the service says beside an answer's data. */
export interface Beside {
  readonly message?: string | undefined;
  /** Likely mistakes that it allowed. */
  readonly warnings?: readonly FieldProblem[] | undefined;
}

export interface SaidProps {
  said: Beside | undefined;
  /** What the person calls the part that a warning is about. */
  nameOf?: NameField | undefined;
}

/** What the service said beside an answer: each warning in a line, with the name of the part that it is about and its code. */
export function Said({ said: { message = '', warnings = [] } = {}, nameOf = () => undefined }: SaidProps) {
  if (message === '' && warnings.length === 0) return null;
  return (
    <div
      role="status"
      className={classes(
        'my-3 space-y-1.5 rounded-md border px-3.5 py-2.5',
        warnings.length > 0 ? 'border-warn/40 bg-warn-soft' : 'border-ok/30 bg-ok-soft',
      )}
    >
      {message !== '' && <p>{message}</p>}
      {warnings.map(({ pointer, code, message: words, suggestion }) => (
        <p key={`${pointer} ${words}`} title={[pointer, suggestion].filter(Boolean).join(': ') || undefined}>
          <span className="font-semibold">Warning:</span>{' '}
          {[nameOf(pointer), words].filter(Boolean).join(': ')}{' '}
          <span className="font-mono text-xs text-muted">{code}</span>
        </p>
      ))}
    </div>
  );
}

/** The names of a JSON pointer (RFC 6901), without its escapes. */
export const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

export const below = (pointer: string, member: string | number): string =>
  `${pointer}/${String(member).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Whether a pointer leads to a part, or into it. */
export const isIn = (part: string, pointer: string): boolean =>
  pointer === part || pointer.startsWith(`${part}/`);

/** The part of an input or a state that a pointer leads to: `laps`, `car.speed`, `stamina of horse:H1`; undefined for all of it. */
export function partWords(pointer: string): string | undefined {
  const [first, ...others] = stepsOf(pointer);
  if (first === undefined) return undefined;
  const isInstance = first.includes(':');
  if (isInstance && others.length > 0) return `${others.join('.')} of ${first}`;
  return [first, ...others].join('.');
}

/** What the fields of a form are called, by the JSON pointers (RFC 6901) of what they send. */
export type FieldLabels = Readonly<Record<string, string>>;

/** The label of the field that a pointer leads to, or into; undefined where the form has none. */
export function labelAt(labels: FieldLabels, pointer: string): string | undefined {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
    if (labels[at] !== undefined) return labels[at];
  return undefined;
}

/** Names the field that a pointer leads to. */
export type NameField = (pointer: string) => string | undefined;

/** Service texts that are about one part of the request begin with its pointer. */
export function withoutPointer(
  text: string,
  pointers: readonly string[],
): { pointer?: string; text: string } {
  const pointer = pointers.find((one) => one !== '' && text.startsWith(`${one}: `));
  return pointer === undefined ? { text } : { pointer, text: text.slice(pointer.length + 2) };
}
