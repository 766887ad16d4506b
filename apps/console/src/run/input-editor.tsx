import type { JsonObject } from '@orrery/sdk';
import { useState } from 'react';
import {
  draftOf,
  emptyObject,
  type ObjectDraft,
  objectDraft,
  type Problems,
  readDraft,
} from '../forms/drafts.js';
import type { InputForm } from '../forms/form-model.js';
import { MemberControls } from '../forms/input-form.js';
import { isObject } from '../forms/json.js';
import { JsonEditor } from '../ui/json-editor/json-editor.js';
import { Tabs } from '../ui/tabs.js';

export interface InputEditorProps {
  form: InputForm;
  entered: Entered;
  onChange: (entered: Entered) => void;
  problems: Problems;
  /** What is entered: "Input" by default. */
  label?: string;
}

export function InputEditor({ form, entered, onChange, problems, label = 'Input' }: InputEditorProps) {
  const [refusal, setRefusal] = useState<string>();
  const change = (next: Entered) => {
    setRefusal(undefined);
    onChange(next);
  };
  if (form.kind === 'json')
    return <JsonInput {...{ entered, problems, label }} onChange={change} hint={form.reason} />;
  const turnTo = (as: Entered['as']) => {
    const next = as === 'json' ? asJson(form, entered) : asForm(form, entered);
    if (next !== undefined) return change(next);
    setRefusal(
      'The form cannot show this text: it is no JSON, or holds what the contract of the input does not have.',
    );
  };
  return (
    <>
      <Tabs
        label={`How to enter the ${label.toLowerCase()}`}
        value={entered.as}
        onChange={turnTo}
        tabs={[
          {
            value: 'form',
            label: 'Form',
            content: entered.as === 'form' && (
              <MemberControls
                field={form.root}
                draft={entered.draft}
                onChange={(draft) => change({ as: 'form', draft })}
                pointer=""
                problems={problems}
              />
            ),
          },
          {
            value: 'json',
            label: 'JSON',
            content: <JsonInput {...{ entered, problems, label }} onChange={change} />,
          },
        ]}
      />
      {refusal && (
        <p role="alert" className="mt-2 text-sm font-medium text-bad">
          {refusal}
        </p>
      )}
    </>
  );
}

type JsonInputProps = Omit<InputEditorProps, 'form' | 'label'> & { label: string; hint?: string };

const JsonInput = ({ entered, onChange, problems, hint, label }: JsonInputProps) =>
  entered.as === 'json' && (
    <JsonEditor
      label={label}
      hint={hint}
      value={entered.text}
      onChange={(text) => onChange({ as: 'json', text })}
      problems={[...problems].map(([pointer, message]) => ({ pointer, message }))}
    />
  );

/** What a person has entered: a form, or JSON text. */
export type Entered =
  | { readonly as: 'form'; readonly draft: ObjectDraft }
  | { readonly as: 'json'; readonly text: string };

export type ReadInput =
  | { readonly ok: true; readonly value: JsonObject }
  /** Empty pointer: the text as a whole. */
  | { readonly ok: false; readonly problems: Problems };

export const startOf = (form: InputForm): Entered =>
  form.kind === 'form' ? { as: 'form', draft: emptyObject(form.root) } : { as: 'json', text: '{}' };

/** An input that was given, such as in a link: in the form, if it can show it. */
export function enteredOf(form: InputForm, input: JsonObject): Entered {
  const draft = form.kind === 'form' ? objectDraft(form.root, input) : undefined;
  return draft === undefined ? { as: 'json', text: JSON.stringify(input, null, 2) } : { as: 'form', draft };
}

/** An input that was entered for another version: the form takes of it what it has a field for. */
export function keptOf(form: InputForm, input: JsonObject): Entered {
  if (form.kind === 'json') return enteredOf(form, input);
  const kept = form.root.members.flatMap(({ name, field }) => {
    const draft = Object.hasOwn(input, name) ? draftOf(field, input[name]) : undefined;
    return draft === undefined ? [] : [[name, draft] as const];
  });
  return { as: 'form', draft: { ...emptyObject(form.root), ...Object.fromEntries(kept) } };
}

export function readEntered(form: InputForm, entered: Entered): ReadInput {
  if (entered.as === 'json') return readText(entered.text);
  if (form.kind !== 'form') return { ok: false, problems: new Map([['', form.reason]]) };
  const { value, problems } = readDraft(form.root, entered.draft);
  return problems.size === 0 ? { ok: true, value } : { ok: false, problems };
}

/** As much of the input as can be read already. */
export function partOf(form: InputForm, entered: Entered): JsonObject {
  if (entered.as === 'form') return form.kind === 'form' ? readDraft(form.root, entered.draft).value : {};
  const read = readText(entered.text);
  return read.ok ? read.value : {};
}

function readText(text: string): ReadInput {
  const wrong = (words: string): ReadInput => ({ ok: false, problems: new Map([['', words]]) });
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { ok: true, value } : wrong('An input is a JSON object: { … }.');
  } catch (error) {
    return wrong(`This is not JSON: ${(error as Error).message}`);
  }
}

/** The same input in the other way to enter it; what cannot be read yet is kept as far as it can. */
export function asJson(form: InputForm, entered: Entered): Entered {
  if (entered.as === 'json' || form.kind !== 'form') return entered;
  return { as: 'json', text: JSON.stringify(readDraft(form.root, entered.draft).value, null, 2) };
}

/** @returns undefined where the form cannot show the text */
export function asForm(form: InputForm, entered: Entered): Entered | undefined {
  if (entered.as === 'form' || form.kind !== 'form') return entered;
  const read = readText(entered.text);
  const draft = read.ok ? objectDraft(form.root, read.value) : undefined;
  return draft && { as: 'form', draft };
}
