import { lazy, Suspense } from 'react';
import { RequiredMark } from '../field.js';
import { Progress } from '../progress.js';
import type { EditorProblem } from './problems.js';

export interface JsonEditorProps {
  label: string;
  hint?: string | undefined;
  /** The text, which need not be JSON while it is being written. */
  value: string;
  onChange: (text: string) => void;
  /** What the API said about parts of it, by JSON pointers into it (RFC 6901). */
  problems?: readonly EditorProblem[] | undefined;
  /** `text`: no JSON, such as a prompt. */
  language?: 'json' | 'text' | undefined;
  /** Lines that are seen at least. */
  rows?: number | undefined;
  readOnly?: boolean | undefined;
  required?: boolean | undefined;
}

const Editor = lazy(() => import('./editor.js'));

/** An editor that marks mistakes at their place: those of JSON itself, and those that the API found. */
export function JsonEditor({ label, hint, problems = [], required, ...rest }: JsonEditorProps) {
  return (
    <div>
      <p className="mb-1 flex items-baseline gap-2 font-medium">
        {label} {required && <RequiredMark />}
      </p>
      <Suspense fallback={<Progress label="Loading the editor" />}>
        <Editor {...rest} label={label} problems={problems} />
      </Suspense>
      {hint && <p className="mt-1 text-sm text-muted">{hint}</p>}
      {problems.length > 0 && (
        <ul className="mt-1 space-y-0.5 text-sm font-medium text-bad">
          {problems.map(({ pointer, message }) => (
            <li key={`${pointer} ${message}`}>
              {pointer && <code className="font-mono">{pointer}</code>} {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
