import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { deploymentPath } from '../api/deployment-path.js';
import { deploymentsKey } from '../api/deployments.js';
import type { Deployment } from '../api/records.js';
import { useOrrery } from '../session/use-session.js';
import { Button } from '../ui/button.js';
import { Actions } from '../ui/dialog.js';
import { ErrorNote } from '../ui/error-note.js';
import { fieldsOf } from '../ui/field-labels.js';
import { Form } from '../ui/form.js';
import { LeaveGuard } from '../ui/leave-guard.js';
import { Card } from '../ui/page.js';
import { Said } from '../ui/said.js';
import { changedSettings, draftOfSettings, editsOf, type SettingsDraft } from './settings-draft.js';
import { ModelAndPaymentFields, NameFields, SETTINGS_LABELS } from './settings-fields.js';
import { useDeploymentRef } from './use-deployment-ref.js';

const FIELDS = fieldsOf(SETTINGS_LABELS);

export function SettingsForm({ deployment }: { deployment: Deployment }) {
  const orrery = useOrrery();
  const ref = useDeploymentRef();
  const cache = useQueryClient();
  // What others change meanwhile is seen, and stays.
  const [edited, setEdited] = useState<Partial<SettingsDraft>>({});
  const stored = draftOfSettings(deployment);
  const draft = { ...stored, ...edited };
  const changes = changedSettings(deployment, draft);
  const isChanged = Object.keys(changes).length > 0;
  const save = useMutation({
    mutationFn: () =>
      orrery.answer('put', '/api/worlds/{worldAddress}/deployments/{address}', {
        path: deploymentPath(ref),
        body: changes,
      }),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: deploymentsKey(ref.world) });
      setEdited({});
    },
  });
  const fields = {
    draft,
    onChange: (next: SettingsDraft) => setEdited(editsOf(stored, next)),
    error: save.error,
  };
  const submit = () => {
    if (isChanged) save.mutate();
  };
  return (
    <Card>
      <LeaveGuard isChanged={isChanged} />
      <Form onSubmit={submit}>
        <div className="grid grid-cols-1 gap-4">
          <NameFields {...fields} />
          <ModelAndPaymentFields {...fields} isModelFixed={deployment.mode === 'locked'} />
        </div>
        <ErrorNote error={save.error} title="The settings were not saved" {...FIELDS} />
        <Said message={save.data?.message} />
        <Actions>
          {isChanged && <Button onClick={() => setEdited({})}>Undo</Button>}
          <Button type="submit" look="primary" disabled={!isChanged} pending={save.isPending}>
            Save
          </Button>
        </Actions>
      </Form>
    </Card>
  );
}
