import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../api/change.js';
import { DEPLOYMENTS, useDeployment } from '../api/deployments.js';
import { listKeyOf } from '../api/read.js';
import type { DeploymentRef } from '../api/records.js';
import { FormButton } from '../ui/dialog.js';
import { TextField } from '../ui/field.js';
import { SaveForm, useDraft } from '../ui/save-form.js';

interface ForkProps {
  deployment: DeploymentRef;
  /** The entry after which the new deployment begins. */
  seq: number;
}

export function Fork({ deployment, seq }: ForkProps) {
  const [from, setFrom] = useState(seq);
  return (
    <FormButton
      verb="Fork here"
      size="small"
      look="primary"
      disabled={seq < 1}
      title={`Fork after entry ${from}`}
      onOpen={() => setFrom(seq)}
    >
      {(close) => <ForkForm deployment={deployment} seq={from} onClose={close} />}
    </FormButton>
  );
}

const LABELS = { '/name': 'Name' };

function ForkForm({ deployment: { world, deployment }, seq, onClose }: ForkProps & { onClose: () => void }) {
  const navigate = useNavigate();
  const { data: source } = useDeployment({ world, deployment });
  const fork = useChange(
    (orrery, name: string) =>
      orrery.post(DEPLOYMENTS, {
        path: { worldAddress: world },
        body: { name, bindings: [], sourceDeployment: source?.address ?? deployment, sourceSeq: seq },
      }),
    [listKeyOf(DEPLOYMENTS, { worldAddress: world })],
    ({ address }) => {
      onClose();
      return navigate({
        to: '/worlds/$world/deployments/$deployment/live',
        params: { world, deployment: address },
        ignoreBlocker: true,
      });
    },
  );
  const initial: { name: string | undefined } = { name: undefined };
  const { draft, field } = useDraft(initial, LABELS, fork.error);
  const name = draft.name ?? `${source?.name ?? 'Deployment'} from ${seq}`;
  const form = { save: fork, labels: LABELS, onSubmit: () => fork.mutate(name), cancel: onClose };
  return (
    <SaveForm {...form} verb="Fork" failed="The fork was not made">
      <p className="mb-3 text-muted">
        The new deployment begins with the instances as they were after entry {seq} and with the events that
        are bound now. What happens there changes nothing here.
      </p>
      <TextField {...field('name')} value={name} required />
    </SaveForm>
  );
}
