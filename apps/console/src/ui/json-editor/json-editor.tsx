import { RequiredMark } from '../field.js';
import { lazily } from '../lazily.js';
import type { EditorProps } from './editor.js';

export interface JsonEditorProps extends EditorProps {
  hint?: string | undefined;
  required?: boolean;
}

const Editor = lazily({ what: 'The editor', meanwhile: 'Loading the editor' }, () => import('./editor.js'));

/** An editor that marks mistakes at their place: those of JSON itself, and those that the API found. */
export function JsonEditor({ hint, required, ...editor }: JsonEditorProps) {
  const { label, problems } = editor;
  return (
    <div>
      <p className="mb-1 flex items-baseline gap-2 font-medium">
        {label} {required && <RequiredMark />}
      </p>
      <Editor {...editor} />
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
