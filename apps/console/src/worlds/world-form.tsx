import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../api/change.js';
import { useGuard } from '../api/guard.js';
import { keyOf } from '../api/read.js';
import type { World } from '../api/records.js';
import { WORLDS } from '../api/worlds.js';
import { FormButton } from '../ui/dialog.js';
import { type NameTexts, TextForm } from '../ui/save-form.js';
import { listOf, listText } from '../ui/typed-text.js';

interface WorldTexts extends NameTexts {
  domainTags: string | null;
  promptSeed: string | null;
}

const SPECS = [
  { name: 'name', label: 'Name', required: true },
  { name: 'description', label: 'Description' },
  {
    name: 'domainTags',
    label: 'Tags',
    hint: 'Separated by commas, such as racing, horses; or a JSON list. AI models see them.',
  },
  {
    name: 'promptSeed',
    label: 'Prompt seed',
    rows: 5,
    hint: 'Every prompt of an AI event in this world begins with this text. Only you see it.',
  },
];

/** Without a world it makes one. */
function WorldForm({ world, onClose }: { world: World | undefined; onClose: () => void }) {
  const navigate = useNavigate();
  const path = { idOrAddress: world?.address ?? '' };
  const guard = useGuard('/api/worlds/{idOrAddress}', path);
  const save = useChange(
    (orrery, { domainTags, ...texts }: WorldTexts, once) => {
      const body = { ...texts, domainTags: listOf(domainTags ?? '') };
      if (world === undefined) return orrery.post(WORLDS, once({ body }));
      return orrery.put('/api/worlds/{idOrAddress}', { path, headers: guard.headers(), body });
    },
    [keyOf(WORLDS)],
    ({ address }) =>
      world === undefined
        ? navigate({ to: '/worlds/$world', params: { world: address }, ignoreBlocker: true })
        : onClose(),
  );
  return (
    <TextForm
      specs={SPECS}
      values={world && { ...world, domainTags: listText(world.domainTags) }}
      verb={world === undefined ? 'Create' : 'Save'}
      guard={guard}
      save={save}
      failed="The world was not saved"
      cancel={onClose}
    />
  );
}

export const NewWorld = ({ look = 'primary' }: { look?: 'primary' | 'secondary' }) => (
  <FormButton verb="New world" title="New world" look={look}>
    {(close) => <WorldForm world={undefined} onClose={close} />}
  </FormButton>
);

export const EditWorld = ({ world }: { world: World }) => (
  <FormButton verb="Edit" title="Edit the world">
    {(close) => <WorldForm world={world} onClose={close} />}
  </FormButton>
);
