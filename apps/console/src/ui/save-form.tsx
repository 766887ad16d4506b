import type { UseMutationResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from './button.js';
import { Conflict, type Guard, isConflict } from './conflict.js';
import { Actions } from './dialog.js';
import { Form, type FormProps, TextArea, TextField } from './field.js';
import { ErrorNote, type FieldLabels, labelAt, type NameField, problemAt } from './messages.js';
import { memberByLabel, useRefusal } from './refusal.js';

export interface SaveFormProps extends FormProps {
  verb: string;
  save: Pick<UseMutationResult, 'isPending' | 'error'>;
  /** What is left of the error once fields were corrected; all of it by default. */
  refusal?: Error | null;
  /** What is said above an error: "The world was not saved". */
  failed?: string;
  /** The fields that show themselves what is wrong with them. */
  labels?: FieldLabels;
  /** Whether the form itself shows what is wrong at a pointer: at all labels, by default. */
  isAtField?: (pointer: string) => boolean;
  /** The label of what a pointer leads to: one of the labels, by default. */
  nameOf?: NameField;
  /** Where one goes without sending it: back, by default by a button. */
  cancel: (() => void) | ReactNode;
  /** What the service said beside its answer. */
  said?: ReactNode;
  disabled?: boolean;
  /** Shown in place of the error where somebody else has changed what the form changes. */
  conflict?: ReactNode;
}

/** A form that sends what was entered, shows what the API refused, and leads back. */
export function SaveForm(props: SaveFormProps) {
  const {
    verb,
    save,
    refusal = save.error,
    failed,
    labels = {},
    isAtField,
    nameOf,
    said,
    cancel,
    disabled,
    conflict,
    ...form
  } = props;
  const { children, ...rest } = form;
  return (
    <Form {...rest}>
      {children}
      {conflict || (
        <ErrorNote
          failed={failed}
          error={refusal}
          nameOf={nameOf ?? ((pointer) => labelAt(labels, pointer))}
          shownElsewhere={isAtField ?? ((pointer) => labels[pointer] !== undefined)}
        />
      )}
      {said}
      <Actions>
        {typeof cancel === 'function' ? <Button onClick={cancel}>Cancel</Button> : cancel}
        <Button type="submit" look="primary" pending={save.isPending} disabled={disabled}>
          {verb}
        </Button>
      </Actions>
    </Form>
  );
}

/**
 * What a form holds, and the props of its fields by the members of that: what the API says at `/<member>` is shown there until
 * the field is changed. `together`: members of which a change of one may mend another.
 */
export function useDraft<Draft extends object>(
  initial: Draft,
  labels: FieldLabels,
  error: Error | null,
  together?: readonly (keyof Draft)[],
) {
  const [draft, setDraft] = useState(initial);
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  const refusal = useRefusal(error, draft, memberByLabel(labels), together);
  const field = fieldOf(draft, change, labels, (pointer) => problemAt(refusal, pointer));
  return { draft, change, field, refusal };
}

/** The same of a draft that is kept elsewhere. */
export const fieldOf =
  <Draft extends object>(
    draft: Draft,
    change: (part: Partial<Draft>) => void,
    labels: FieldLabels,
    problemIn: (pointer: string) => string | undefined,
  ) =>
  <Name extends keyof Draft & string>(name: Name, pointer = `/${name}`) => ({
    label: labels[pointer] ?? name,
    value: draft[name],
    onChange: (value: Draft[Name]) => change({ [name]: value } as unknown as Partial<Draft>),
    error: problemIn(pointer),
  });

/** A text of a form, by the name that it is sent with. */
export interface TextSpec {
  name: string;
  label: string;
  hint?: string;
  required?: boolean;
  /** Of a text of several lines. */
  rows?: number;
}

interface TextFormProps<Texts> extends Pick<SaveFormProps, 'verb' | 'failed' | 'cancel'> {
  specs: readonly TextSpec[];
  /** What is edited. */
  values?: Readonly<Record<string, unknown>> | undefined;
  /** Of what is edited. */
  guard?: Guard | undefined;
  /** It gets what was entered, trimmed, and what was not changed as it was; what is empty is null. */
  save: Pick<UseMutationResult<unknown, Error, Texts>, 'isPending' | 'error' | 'mutate'>;
}

type FormTexts = Readonly<Record<string, string>>;

const textsIn = (names: readonly string[], values: Readonly<Record<string, unknown>>): FormTexts =>
  Object.fromEntries(names.map((name) => [name, String(values[name] ?? '')]));

/** Texts as they are sent: trimmed where they are not those that are stored; null where they are empty. */
export const enteredTexts = (stored: FormTexts, draft: FormTexts): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries(draft).map(([name, text]) => [name, (text === stored[name] ? text : text.trim()) || null]),
  );

/** A form of texts alone. */
export function TextForm<Texts>({ specs, values = {}, guard, save, ...form }: TextFormProps<Texts>) {
  const labels = Object.fromEntries(specs.map(({ name, label }) => [`/${name}`, label]));
  const names = specs.map(({ name }) => name);
  const [stored] = useState(() => textsIn(names, values));
  const { draft, field, refusal } = useDraft(stored, labels, save.error);
  const entered = enteredTexts(stored, draft);
  const submit = () => save.mutate(entered as Texts);
  const overwrite = () => {
    guard?.renew();
    submit();
  };
  const conflict = isConflict(save.error) && (
    <Conflict theirs={enteredTexts(stored, textsIn(names, values))} mine={entered} onOverwrite={overwrite} />
  );
  return (
    <SaveForm
      {...form}
      save={save}
      refusal={refusal}
      labels={labels}
      onSubmit={submit}
      conflict={conflict}
      className="space-y-4"
    >
      {specs.map(({ name, rows, hint, required }) => {
        const props = { ...field(name), value: draft[name] ?? '', hint };
        if (rows !== undefined) return <TextArea key={name} {...props} rows={rows} />;
        return <TextField key={name} {...props} required={required} maxLength={required ? 255 : undefined} />;
      })}
    </SaveForm>
  );
}

export interface NameTexts {
  name: string;
  description: string | null;
}

/** The specs of what has a name and a description. */
export const nameSpecs = (hint: string): readonly TextSpec[] => [
  { name: 'name', label: 'Name', required: true, hint },
  { name: 'description', label: 'Description' },
];
