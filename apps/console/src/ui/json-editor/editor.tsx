import {
  autocompletion,
  type Completion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type CSSProperties, useEffect, useRef } from 'react';
import './editor.css';
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
  /** What can stand at a position of the text, and where what is completed begins. */
  complete?: ((text: string, at: number) => Offered | undefined) | undefined;
}

interface Offered {
  readonly from: number;
  readonly options: readonly Completion[];
}

/** Lets CodeMirror make style elements, which the content security policy refuses otherwise. */
const NONCE = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';

/** CodeMirror, with the look of the page. */
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
    const editor = createEditor(
      element,
      latest.current,
      (text) => latest.current.onChange(text),
      (text, at) => latest.current.complete?.(text, at),
    );
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

function createEditor(
  parent: HTMLElement,
  props: EditorProps,
  onChange: (text: string) => void,
  complete: NonNullable<EditorProps['complete']>,
) {
  const { label, value, language } = props;
  let problems: readonly EditorProblem[] = [];
  const extensions: Extension[] = [
    EditorView.cspNonce.of(NONCE),
    history(),
    drawSelection(),
    highlightActiveLine(),
    EditorView.lineWrapping,
    // A text that scrolls must take the focus by itself for the keyboard to scroll it.
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    EditorView.domEventHandlers({ beforeinput: insertTyped }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
    autocompletion({
      override: [({ state, pos }) => offeredAt(complete(state.doc.toString(), pos))],
      icons: false,
    }),
    keymap.of([
      ...completionKeymap,
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...historyKeymap,
      ...lintKeymap,
    ]),
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
  const view = new EditorView({ parent, state: EditorState.create({ doc: value, extensions }) });
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

/** While a word is typed on, what was offered is filtered by it. */
const offeredAt = (offered: Offered | undefined) =>
  offered === undefined ? null : { from: offered.from, options: [...offered.options], validFor: /^[\w$]*$/ };

/**
 * Typing. Left to the browser, it would keep the look of text that was replaced by a style attribute, which the content
 * security policy refuses. What is replaced is what the browser has selected: on a busy machine the editor has not heard of
 * that yet.
 */
function insertTyped(event: InputEvent, view: EditorView): boolean {
  const { data, inputType } = event;
  const range = document.getSelection()?.getRangeAt(0);
  if (inputType !== 'insertText' || data === null || view.composing || view.state.readOnly) return false;
  if (range === undefined || !view.contentDOM.contains(range.startContainer)) return false;
  event.preventDefault();
  const from = view.posAtDOM(range.startContainer, range.startOffset);
  const to = view.posAtDOM(range.endContainer, range.endOffset);
  view.dispatch({ selection: { anchor: from, head: to } });
  const insert = () =>
    view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  // Such as brackets and quotes, which are put around what is selected.
  const handlers = view.state.facet(EditorView.inputHandler);
  if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
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
