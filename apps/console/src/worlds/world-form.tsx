import type { UseMutationResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { World } from '../api/records.js';
import { useChange } from '../api/use-change.js';
import { FormButton } from '../ui/dialog.js';
import { TextArea, TextField } from '../ui/field.js';
import { SaveForm, useDraft } from '../ui/save-form.js';
import { listOf } from '../ui/typed-text.js';

interface WorldValues {
  name: string;
  description: string | null;
  domainTags: string[];
  promptSeed: string | null;
}

interface FormProps {
  /** What is edited; without it the form is empty. */
  world?: World;
  verb: string;
  save: UseMutationResult<unknown, Error, WorldValues>;
  onClose: () => void;
}

const LABELS = {
  '/name': 'Name',
  '/description': 'Description',
  '/domainTags': 'Tags',
  '/promptSeed': 'Prompt seed',
};

function WorldForm({ world, verb, save, onClose }: FormProps) {
  const initial = {
    name: world?.name ?? '',
    description: world?.description ?? '',
    domainTags: world?.domainTags.join(', ') ?? '',
    promptSeed: world?.promptSeed ?? '',
  };
  const { draft, field } = useDraft(initial, LABELS, save.error);
  const submit = () =>
    save.mutate({
      name: draft.name.trim(),
      description: draft.description.trim() || null,
      domainTags: listOf(draft.domainTags),
      promptSeed: draft.promptSeed.trim() || null,
    });
  const form = { verb, save, labels: LABELS, onSubmit: submit, cancel: onClose };
  return (
    <SaveForm {...form} failed="The world was not saved" className="space-y-4">
      <TextField {...field('name')} required maxLength={255} />
      <TextField {...field('description')} />
      <TextField
        {...field('domainTags')}
        hint="Separated by commas, such as racing, horses. AI models see them."
      />
      <TextArea
        {...field('promptSeed')}
        rows={5}
        hint="Every prompt of an AI event in this world begins with this text. Only you see it."
      />
    </SaveForm>
  );
}

export const NewWorld = ({ look = 'primary' }: { look?: 'primary' | 'secondary' }) => (
  <FormButton verb="New world" title="New world" look={look}>
    {(close) => <Creation onClose={close} />}
  </FormButton>
);

function Creation({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const create = useChange(
    (orrery, { description, promptSeed, ...values }: WorldValues) =>
      orrery.post('/api/worlds', {
        body: { ...values, ...(description && { description }), ...(promptSeed && { promptSeed }) },
      }),
    [['worlds']],
    ({ address }) => navigate({ to: '/worlds/$world', params: { world: address }, ignoreBlocker: true }),
  );
  return <WorldForm verb="Create" save={create} onClose={onClose} />;
}

interface EditWorldProps {
  world: World;
  /** What was read of it, and is read anew. */
  keys: readonly (readonly string[])[];
}

export const EditWorld = (props: EditWorldProps) => (
  <FormButton verb="Edit" title="Edit the world">
    {(close) => <Editing {...props} onClose={close} />}
  </FormButton>
);

function Editing({ world, keys, onClose }: EditWorldProps & { onClose: () => void }) {
  const save = useChange(
    (orrery, body: WorldValues) =>
      orrery.put('/api/worlds/{idOrAddress}', { path: { idOrAddress: world.address }, body }),
    keys,
    onClose,
  );
  return <WorldForm world={world} verb="Save" save={save} onClose={onClose} />;
}
