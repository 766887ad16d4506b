import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { deploymentPagesKey, deploymentQuery } from '../api/deployments.js';
import type { DeploymentRef } from '../api/records.js';
import { useOrrery } from '../session/use-session.js';
import { Button } from '../ui/button.js';
import { Actions } from '../ui/dialog.js';
import { ErrorNote, problemAt } from '../ui/error-note.js';
import { TextField } from '../ui/field.js';
import { fieldsOf } from '../ui/field-labels.js';
import { Form } from '../ui/form.js';
import { FormDialog } from '../ui/form-dialog.js';

interface ForkProps {
  deployment: DeploymentRef;
  /** The entry after which the new deployment begins. */
  seq: number;
}

/** Makes a deployment that begins with the state after an entry, and goes its own way. */
export function Fork({ deployment, seq }: ForkProps) {
  const [from, setFrom] = useState<number>();
  return (
    <>
      <Button size="small" look="primary" disabled={seq < 1} onClick={() => setFrom(seq)}>
        Fork here
      </Button>
      <FormDialog
        title={`Fork after entry ${from ?? seq}`}
        open={from !== undefined}
        onClose={() => setFrom(undefined)}
      >
        <ForkForm deployment={deployment} seq={from ?? seq} onClose={() => setFrom(undefined)} />
      </FormDialog>
    </>
  );
}

const FIELDS = fieldsOf({ '/name': 'Name' });

function ForkForm({ deployment: { world, deployment }, seq, onClose }: ForkProps & { onClose: () => void }) {
  const orrery = useOrrery();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: source } = useQuery(deploymentQuery(orrery, { world, deployment }));
  const [given, setName] = useState<string>();
  const name = given ?? `${source?.name ?? 'Deployment'} from ${seq}`;
  const fork = useMutation({
    mutationFn: () =>
      orrery.post('/api/worlds/{worldAddress}/deployments', {
        path: { worldAddress: world },
        body: { name, bindings: [], sourceDeployment: source?.address ?? deployment, sourceSeq: seq },
      }),
    onSuccess: async ({ address }) => {
      await client.invalidateQueries({ queryKey: deploymentPagesKey(world) });
      onClose();
      await navigate({
        to: '/worlds/$world/deployments/$deployment/live',
        params: { world, deployment: address },
        ignoreBlocker: true,
      });
    },
  });
  const submit = () => {
    fork.mutate();
  };
  return (
    <Form onSubmit={submit}>
      <p className="mb-3 text-muted">
        The new deployment begins with the instances as they were after entry {seq} and with the events that
        are bound now. What happens there changes nothing here.
      </p>
      <TextField
        label="Name"
        required
        value={name}
        onChange={setName}
        error={problemAt(fork.error, '/name')}
      />
      <ErrorNote error={fork.error} title="The fork was not made" {...FIELDS} />
      <Actions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" pending={fork.isPending}>
          Fork
        </Button>
      </Actions>
    </Form>
  );
}
