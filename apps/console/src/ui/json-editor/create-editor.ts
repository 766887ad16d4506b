import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type EditorProblem, placeOf } from './problems.js';

export interface RunningEditor {
  /** Replaces the text, unless it is that already. */
  setText(text: string): void;
  setProblems(problems: readonly EditorProblem[]): void;
  destroy(): void;
}

export interface EditorOptions {
  root: ShadowRoot;
  label: string;
  text: string;
  onChange: (text: string) => void;
  language: 'json' | 'text';
  rows: number;
  readOnly: boolean;
}

export function createEditor(options: EditorOptions): RunningEditor {
  const { root, text, onChange, language, readOnly } = options;
  let problems: readonly EditorProblem[] = [];
  const extensions: Extension[] = [
    history(),
    drawSelection(),
    highlightActiveLine(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': options.label }),
    EditorState.readOnly.of(readOnly),
    themeFor(options.rows),
    EditorView.domEventHandlers({ beforeinput: replaceSelection }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...lintKeymap]),
    linter((view) => diagnosticsOf(view, language, problems), { delay: 250 }),
  ];
  if (language === 'json')
    extensions.push(
      json(),
      lineNumbers(),
      lintGutter(),
      bracketMatching(),
      closeBrackets(),
      indentOnInput(),
      syntaxHighlighting(HIGHLIGHTING),
    );
  const view = new EditorView({ root, parent: root, state: EditorState.create({ doc: text, extensions }) });
  return {
    setText: (next) => {
      const now = view.state.doc.toString();
      if (next !== now) view.dispatch({ changes: { from: 0, to: now.length, insert: next } });
    },
    setProblems: (next) => {
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
  language: 'json' | 'text',
  problems: readonly EditorProblem[],
): Diagnostic[] {
  const text = view.state.doc.toString();
  const found = problems.map(({ pointer, message }): Diagnostic => {
    const place = language === 'json' ? placeOf(text, pointer) : { from: 0, to: text.length };
    return { ...place, message, severity: 'error' };
  });
  // An empty text stands for "none".
  const isJson = language === 'json' && text.trim() !== '';
  return isJson ? [...findSyntaxErrors(view), ...found] : found;
}

const HIGHLIGHTING = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
]);

const LINE_HEIGHT = 20;

/** Colours are the page's: custom properties reach into the shadow root. */
const themeFor = (rows: number): Extension =>
  EditorView.theme({
    '&': { fontSize: '13px', color: 'var(--text)', backgroundColor: 'var(--surface)' },
    '&.cm-focused': { outline: 'none' },
    '.cm-scroller': {
      fontFamily: 'var(--font-mono, ui-monospace, Menlo, Consolas, "Liberation Mono", monospace)',
      lineHeight: `${LINE_HEIGHT}px`,
      maxHeight: '32rem',
      overflow: 'auto',
    },
    '.cm-content, .cm-gutter': { minHeight: `${rows * LINE_HEIGHT + 10}px` },
    '.cm-content': { caretColor: 'var(--text)', padding: '5px 0' },
    '.cm-line': { padding: '0 8px' },
    '.cm-cursor': { borderLeftColor: 'var(--text)' },
    '.cm-activeLine': { backgroundColor: 'transparent' },
    '&.cm-focused .cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
    '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
      backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)',
    },
    '.cm-gutters': {
      backgroundColor: 'var(--sunken)',
      color: 'var(--muted)',
      borderRight: '1px solid var(--line)',
    },
    '.cm-matchingBracket': { backgroundColor: 'color-mix(in srgb, var(--accent) 22%, transparent)' },
    '.cm-tooltip': {
      backgroundColor: 'var(--surface)',
      color: 'var(--text)',
      border: '1px solid var(--line-strong)',
      borderRadius: '6px',
      fontFamily: 'var(--font-sans, system-ui, sans-serif)',
    },
    '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  });
