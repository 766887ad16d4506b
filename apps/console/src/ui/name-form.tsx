import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from './button.js';
import { Actions } from './dialog.js';
import { ErrorNote, problemAt } from './error-note.js';
import { TextField } from './field.js';
import { fieldsOf } from './field-labels.js';
import { Form } from './form.js';
import { FormDialog } from './form-dialog.js';

export interface NameValues {
  name: string;
  description: string | null;
}

export interface NameFormProps {
  values?: NameValues | undefined;
  verb: string;
  hint?: string | undefined;
  pending: boolean;
  error: unknown;
  onSubmit: (values: NameValues) => void;
  onCancel: () => void;
}

/** The form of what has a name and a description. */
export function NameForm({ values, verb, hint, pending, error, onSubmit, onCancel }: NameFormProps) {
  const [name, setName] = useState(values?.name ?? '');
  const [description, setDescription] = useState(values?.description ?? '');
  const submit = () => {
    onSubmit({ name: name.trim(), description: description.trim() || null });
  };
  return (
    <Form onSubmit={submit} className="space-y-4">
      <TextField
        label="Name"
        required
        maxLength={255}
        value={name}
        onChange={setName}
        hint={hint}
        error={problemAt(error, '/name')}
      />
      <TextField
        label="Description"
        value={description}
        onChange={setDescription}
        error={problemAt(error, '/description')}
      />
      <ErrorNote error={error} {...FIELDS} />
      <Actions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" look="primary" pending={pending}>
          {verb}
        </Button>
      </Actions>
    </Form>
  );
}

const FIELDS = fieldsOf({ '/name': 'Name', '/description': 'Description' });

interface EditNamesProps {
  title: string;
  values: NameValues;
  hint: string;
  save: UseMutationResult<{ name: string }, Error, NameValues>;
  /** Shows the page under the name that was saved. */
  show: (name: string) => Promise<void>;
}

/** A button that opens the form of a name and a description, and shows the page again once they are saved. */
export function EditNames({ title, values, hint, save, show }: EditNamesProps) {
  const [isOpen, setOpen] = useState(false);
  const submit = (next: NameValues) =>
    save.mutate(next, {
      onSuccess: async ({ name }) => {
        setOpen(false);
        await show(name);
      },
    });
  return (
    <>
      <Button onClick={() => setOpen(true)}>Edit</Button>
      <FormDialog title={title} open={isOpen} onClose={() => setOpen(false)}>
        <NameForm
          values={values}
          verb="Save"
          hint={hint}
          pending={save.isPending}
          error={save.error}
          onSubmit={submit}
          onCancel={() => setOpen(false)}
        />
      </FormDialog>
    </>
  );
}
