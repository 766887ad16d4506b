import { useState } from 'react';
import type { Problems } from '../forms/drafts.js';
import type { InputForm } from '../forms/form-model.js';
import { MemberControls } from '../forms/input-form.js';
import { JsonEditor } from '../ui/json-editor/json-editor.js';
import { Tabs } from '../ui/tabs.js';
import { asForm, asJson, type Entered } from './input-state.js';

export interface InputEditorProps {
  form: InputForm;
  entered: Entered;
  onChange: (entered: Entered) => void;
  problems: Problems;
}

export function InputEditor({ form, entered, onChange, problems }: InputEditorProps) {
  const [refusal, setRefusal] = useState<string>();
  const change = (next: Entered) => {
    setRefusal(undefined);
    onChange(next);
  };
  if (form.kind === 'json')
    return <JsonInput {...{ entered, problems }} onChange={change} hint={form.reason} />;
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
        label="How to enter the input"
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
            content: <JsonInput {...{ entered, problems }} onChange={change} />,
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

type JsonInputProps = Omit<InputEditorProps, 'form'> & { hint?: string };

const JsonInput = ({ entered, onChange, problems, hint }: JsonInputProps) =>
  entered.as === 'json' && (
    <JsonEditor
      label="Input"
      hint={hint}
      value={entered.text}
      onChange={(text) => onChange({ as: 'json', text })}
      problems={[...problems].map(([pointer, message]) => ({ pointer, message }))}
    />
  );
