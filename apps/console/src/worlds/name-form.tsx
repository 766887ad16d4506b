import { useState } from 'react';
import { Button } from '../ui/button.js';
import { Actions } from '../ui/dialog.js';
import { ErrorNote, problemAt } from '../ui/error-note.js';
import { TextField } from '../ui/field.js';
import { fieldsOf } from '../ui/field-labels.js';
import { Form } from '../ui/form.js';

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
