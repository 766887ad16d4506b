import type { UseMutationResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from './button.js';
import { Actions, FormButton } from './dialog.js';
import { TextField } from './field.js';
import { Form, type FormProps } from './form.js';
import { ErrorNote, problemAt } from './messages.js';
import { type FieldLabels, fieldsOf, type NameField } from './pointers.js';

export interface SaveFormProps extends FormProps {
  verb: string;
  save: Pick<UseMutationResult, 'isPending' | 'error'>;
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
}

/** A form that sends what was entered, shows what the API refused, and leads back. */
export const SaveForm = (props: SaveFormProps) => {
  const {
    verb,
    save,
    failed,
    labels = {},
    isAtField,
    nameOf,
    said,
    cancel,
    disabled,
    children,
    ...form
  } = props;
  const fields = fieldsOf(labels);
  return (
    <Form {...form}>
      {children}
      <ErrorNote
        title={failed}
        error={save.error}
        nameOf={nameOf ?? fields.nameOf}
        shownElsewhere={isAtField ?? fields.shownElsewhere}
      />
      {said}
      <Actions>
        {typeof cancel === 'function' ? <Button onClick={cancel}>Cancel</Button> : cancel}
        <Button type="submit" look="primary" pending={save.isPending} disabled={disabled}>
          {verb}
        </Button>
      </Actions>
    </Form>
  );
};

/** What a form holds, and the props of its fields by the members of that: what the API says at `/<member>` is shown there. */
export function useDraft<Draft extends object>(initial: Draft, labels: FieldLabels, error: unknown) {
  const [draft, setDraft] = useState(initial);
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  const field = fieldOf(draft, change, labels, (pointer) => problemAt(error, pointer));
  return { draft, change, field };
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

export interface NameValues {
  name: string;
  description: string | null;
}

export interface NameFormProps extends Pick<SaveFormProps, 'verb'> {
  values?: NameValues;
  hint: string;
  save: UseMutationResult<{ name: string }, Error, NameValues>;
  /** Shows what was saved, by its name. */
  show: (name: string) => Promise<void>;
  onClose: () => void;
}

const LABELS = { '/name': 'Name', '/description': 'Description' };

export function NameForm({ values, verb, hint, save, show, onClose }: NameFormProps) {
  const initial = { name: values?.name ?? '', description: values?.description ?? '' };
  const { draft, field } = useDraft(initial, LABELS, save.error);
  const submit = () => {
    const entered = { name: draft.name.trim(), description: draft.description.trim() || null };
    save.mutate(entered, {
      onSuccess: ({ name }) => {
        onClose();
        void show(name);
      },
    });
  };
  const form = { verb, save, labels: LABELS, cancel: onClose, onSubmit: submit };
  return (
    <SaveForm {...form} className="space-y-4">
      <TextField {...field('name')} required maxLength={255} hint={hint} />
      <TextField {...field('description')} />
    </SaveForm>
  );
}

export const NameButton = ({
  title,
  ...form
}: Omit<NameFormProps, 'verb' | 'onClose'> & { title: string }) => (
  <FormButton verb="Edit" title={title}>
    {(close) => <NameForm {...form} verb="Save" onClose={close} />}
  </FormButton>
);
