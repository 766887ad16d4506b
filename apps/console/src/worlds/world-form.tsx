import { useState } from 'react';
import type { World } from '../api/records.js';
import { Button } from '../ui/button.js';
import { Actions } from '../ui/dialog.js';
import { ErrorNote, problemAt } from '../ui/error-note.js';
import { TextArea, TextField } from '../ui/field.js';
import { fieldsOf } from '../ui/field-labels.js';
import { Form } from '../ui/form.js';
import { listOf } from '../ui/typed-text.js';

export interface WorldValues {
  name: string;
  description: string | null;
  domainTags: string[];
  promptSeed: string | null;
}

export interface WorldFormProps {
  /** What is edited; without it the form is empty. */
  world?: World | undefined;
  verb: string;
  pending: boolean;
  error: unknown;
  onSubmit: (values: WorldValues) => void;
  onCancel: () => void;
}

export function WorldForm({ world, verb, pending, error, onSubmit, onCancel }: WorldFormProps) {
  const [name, setName] = useState(world?.name ?? '');
  const [description, setDescription] = useState(world?.description ?? '');
  const [tags, setTags] = useState(world?.domainTags.join(', ') ?? '');
  const [seed, setSeed] = useState(world?.promptSeed ?? '');
  const submit = () => {
    onSubmit({
      name: name.trim(),
      description: description.trim() || null,
      domainTags: listOf(tags),
      promptSeed: seed.trim() || null,
    });
  };
  return (
    <Form onSubmit={submit} className="space-y-4">
      <TextField
        label="Name"
        required
        maxLength={255}
        value={name}
        onChange={setName}
        error={problemAt(error, '/name')}
      />
      <TextField
        label="Description"
        value={description}
        onChange={setDescription}
        error={problemAt(error, '/description')}
      />
      <TextField
        label="Tags"
        value={tags}
        onChange={setTags}
        hint="Separated by commas, such as racing, horses. AI models see them."
        error={problemAt(error, '/domainTags')}
      />
      <TextArea
        label="Prompt seed"
        value={seed}
        onChange={setSeed}
        rows={5}
        hint="Every prompt of an AI event in this world begins with this text. Only you see it."
        error={problemAt(error, '/promptSeed')}
      />
      <ErrorNote title="The world was not saved" error={error} {...FIELDS} />
      <Actions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" look="primary" pending={pending}>
          {verb}
        </Button>
      </Actions>
    </Form>
  );
}

const FIELDS = fieldsOf({
  '/name': 'Name',
  '/description': 'Description',
  '/domainTags': 'Tags',
  '/promptSeed': 'Prompt seed',
});
