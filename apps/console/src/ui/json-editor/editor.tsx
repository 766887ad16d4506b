import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type CSSProperties, useEffect, useRef } from 'react';
import look from './editor.css?inline';
import { type EditorProblem, positionOf } from './problems.js';

export interface EditorProps {
  label: string;
  value: string;
  onChange: (text: string) => void;
  problems: readonly EditorProblem[];
  /** `text`: no JSON, such as a prompt. */
  language?: 'text' | undefined;
  /** Lines that are seen at least. */
  rows?: number | undefined;
}

const LOOK = new CSSStyleSheet();
LOOK.replaceSync(look);

/** CodeMirror in a shadow root: there its styles are constructed sheets, which the content security policy allows. */
export default function Editor(props: EditorProps) {
  const { label, value, problems, language, rows = 8 } = props;
  const host = useRef<HTMLDivElement>(null);
  const running = useRef<ReturnType<typeof createEditor>>(null);
  const latest = useRef(props);
  latest.current = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another label or language needs another editor
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const editor = createEditor(root, latest.current, (text) => latest.current.onChange(text));
    running.current = editor;
    return () => {
      editor.destroy();
      running.current = null;
    };
  }, [label, language]);
  useEffect(() => running.current?.setText(value), [value]);
  useEffect(() => running.current?.setProblems(problems), [problems]);
  return (
    <div
      ref={host}
      data-invalid={problems.length > 0 || undefined}
      className="overflow-hidden rounded-md border border-line-strong bg-surface focus-within:outline-2 focus-within:outline-accent"
      style={{ '--rows': rows } as CSSProperties}
    />
  );
}

function createEditor(root: ShadowRoot, props: EditorProps, onChange: (text: string) => void) {
  const { label, value, language } = props;
  let problems: readonly EditorProblem[] = [];
  const extensions: Extension[] = [
    history(),
    drawSelection(),
    highlightActiveLine(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label }),
    EditorView.domEventHandlers({ beforeinput: replaceSelection }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...lintKeymap]),
    linter((view) => diagnosticsOf(view, language, problems), { delay: 250 }),
  ];
  if (language !== 'text')
    extensions.push(
      json(),
      lineNumbers(),
      lintGutter(),
      bracketMatching(),
      closeBrackets(),
      indentOnInput(),
      syntaxHighlighting(HIGHLIGHTING),
    );
  // After CodeMirror's own, which it puts first.
  if (!root.adoptedStyleSheets.includes(LOOK)) root.adoptedStyleSheets.push(LOOK);
  const view = new EditorView({ root, parent: root, state: EditorState.create({ doc: value, extensions }) });
  return {
    setText: (next: string) => {
      const now = view.state.doc.toString();
      if (next !== now) view.dispatch({ changes: { from: 0, to: now.length, insert: next } });
    },
    setProblems: (next: readonly EditorProblem[]) => {
      problems = next;
      // The linter by itself looks only after a change of the text.
      view.dispatch(setDiagnostics(view.state, diagnosticsOf(view, language, problems)));
    },
    destroy: () => view.destroy(),
  };
}

/**
 * Typing over a selection. Left to the browser, it would keep the look of the replaced text by a style attribute, which
 * the content security policy refuses. In a shadow root the event does not say what it would replace: the editor's own
 * selection does.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { data, inputType } = event;
  const { state } = view;
  const { from, to, empty } = state.selection.main;
  if (inputType !== 'insertText' || data === null || empty || view.composing || state.readOnly) return false;
  event.preventDefault();
  const insert = () =>
    state.update(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  // Brackets and quotes are put around what is selected.
  const isHandled = state
    .facet(EditorView.inputHandler)
    .some((handle) => handle(view, from, to, data, insert));
  if (!isHandled) view.dispatch(insert());
  return true;
}

const findSyntaxErrors = jsonParseLinter();

function diagnosticsOf(
  view: EditorView,
  language: EditorProps['language'],
  problems: readonly EditorProblem[],
): Diagnostic[] {
  const text = view.state.doc.toString();
  const found = problems.map(({ pointer, message }): Diagnostic => {
    const position = language !== 'text' ? positionOf(text, pointer) : { from: 0, to: text.length };
    return { ...position, message, severity: 'error' };
  });
  // An empty text stands for "none".
  const isJson = language !== 'text' && text.trim() !== '';
  return isJson ? [...findSyntaxErrors(view), ...found] : found;
}

const HIGHLIGHTING = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
]);
