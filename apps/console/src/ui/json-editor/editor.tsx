import { useEffect, useRef } from 'react';
import { createEditor, type RunningEditor } from './create-editor.js';
import type { EditorProblem } from './problems.js';

export interface EditorProps {
  label: string;
  value: string;
  onChange: (text: string) => void;
  problems: readonly EditorProblem[];
  language?: 'json' | 'text' | undefined;
  rows?: number | undefined;
  readOnly?: boolean | undefined;
}

/** CodeMirror in a shadow root: there its styles are constructed sheets, which the content security policy allows. */
export default function Editor({ label, value, onChange, problems, language, rows, readOnly }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const running = useRef<RunningEditor>(null);
  const latest = useRef({ value, onChange });
  latest.current = { value, onChange };
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const editor = createEditor({
      root: element.shadowRoot ?? element.attachShadow({ mode: 'open' }),
      label,
      text: latest.current.value,
      onChange: (text) => latest.current.onChange(text),
      language: language ?? 'json',
      rows: rows ?? 8,
      readOnly: readOnly ?? false,
    });
    running.current = editor;
    return () => {
      editor.destroy();
      running.current = null;
    };
  }, [label, language, rows, readOnly]);
  useEffect(() => running.current?.setText(value), [value]);
  useEffect(() => running.current?.setProblems(problems), [problems]);
  return (
    <div
      ref={host}
      data-invalid={problems.length > 0 || undefined}
      className="overflow-hidden rounded-md border border-line-strong bg-surface focus-within:outline-2 focus-within:outline-accent"
    />
  );
}
