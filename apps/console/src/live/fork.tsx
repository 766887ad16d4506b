import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../api/change.js';
import { DEPLOYMENTS, useDeployment, useDeploymentRef } from '../api/deployments.js';
import { listKeyOf } from '../api/read.js';
import { FormButton } from '../ui/dialog.js';
import { TextField } from '../ui/field.js';
import { problemAt } from '../ui/messages.js';
import { memberByLabel, useRefusal } from '../ui/refusal.js';
import { SaveForm } from '../ui/save-form.js';
import { useLive } from './live.js';

export function Fork() {
  const { seq } = useLive();
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
      {(close) => <ForkForm seq={from} onClose={close} />}
    </FormButton>
  );
}

const LABELS = { '/name': 'Name' };

/** The new deployment begins after the entry `seq`. */
function ForkForm({ seq, onClose }: { seq: number; onClose: () => void }) {
  const { world, deployment } = useDeploymentRef();
  const navigate = useNavigate();
  const path = { worldAddress: world };
  const { data: source } = useDeployment({ world, deployment });
  const fork = useChange(
    (orrery, name: string, once) => {
      const begin = { sourceDeployment: source?.address ?? deployment, sourceSeq: seq };
      return orrery.post(DEPLOYMENTS, once({ path, body: { name, bindings: [], ...begin } }));
    },
    [listKeyOf(DEPLOYMENTS, path)],
    ({ address }) => {
      onClose();
      return navigate({
        to: '/worlds/$world/deployments/$deployment/live',
        params: { world, deployment: address },
        ignoreBlocker: true,
      });
    },
  );
  const [typed, setName] = useState<string>();
  const name = typed ?? `${source?.name ?? 'Deployment'} from ${seq}`;
  const refusal = useRefusal(fork.error, { name }, memberByLabel(LABELS));
  const form = { save: fork, refusal, labels: LABELS, onSubmit: () => fork.mutate(name), cancel: onClose };
  return (
    <SaveForm {...form} verb="Fork" failed="The fork was not made">
      <p className="mb-3 text-muted">
        The new deployment begins with the instances as they were after entry {seq} and with the events that
        are bound now. What happens there changes nothing here.
      </p>
      <TextField label="Name" value={name} onChange={setName} required error={problemAt(refusal, '/name')} />
    </SaveForm>
  );
}
