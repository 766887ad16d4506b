import { useState } from 'react';
import { useChange } from '../api/change.js';
import {
  DEPLOYMENT,
  DEPLOYMENTS,
  deploymentPath,
  useDeployment,
  useDeploymentRef,
} from '../api/deployments.js';
import { keyOf } from '../api/read.js';
import type { Deployment } from '../api/records.js';
import { Button } from '../ui/button.js';
import { LeaveGuard } from '../ui/dialog.js';
import { Await, problemAt, Said } from '../ui/messages.js';
import { Card, Details, Section } from '../ui/page.js';
import { fieldOf, SaveForm } from '../ui/save-form.js';
import { CopyableCode, Time } from '../ui/values.js';
import { BindingsSection } from './bindings.js';
import { changedSettings, draftOfSettings, editsOf, type SettingsDraft } from './settings-draft.js';
import { ModelAndPaymentFields, NameFields, SETTINGS_LABELS } from './settings-fields.js';
import { StateSection } from './state-section.js';

export default function SettingsPage() {
  return (
    <Await query={useDeployment(useDeploymentRef())} what="the deployment">
      {(deployment) => (
        <>
          <BindingsSection isLocked={deployment.mode === 'locked'} />
          <Section title="Settings">
            <SettingsForm deployment={deployment} />
          </Section>
          <StateSection deployment={deployment} />
          <Section title="About">
            <About deployment={deployment} />
          </Section>
        </>
      )}
    </Await>
  );
}

function SettingsForm({ deployment }: { deployment: Deployment }) {
  const ref = useDeploymentRef();
  // What others change meanwhile is seen, and stays.
  const [edited, setEdited] = useState<Partial<SettingsDraft>>({});
  const stored = draftOfSettings(deployment);
  const draft = { ...stored, ...edited };
  const body = changedSettings(deployment, draft);
  const isChanged = Object.keys(body).length > 0;
  const save = useChange(
    (orrery) => orrery.answer('put', DEPLOYMENT, { path: deploymentPath(ref), body }),
    [keyOf(DEPLOYMENTS, deploymentPath(ref))],
    () => setEdited({}),
  );
  const change = (part: Partial<SettingsDraft>) => setEdited(editsOf(stored, { ...draft, ...part }));
  const field = fieldOf(draft, change, SETTINGS_LABELS, (pointer) => problemAt(save.error, pointer));
  return (
    <Card>
      <LeaveGuard isChanged={isChanged} />
      <SaveForm
        verb="Save"
        save={save}
        failed="The settings were not saved"
        labels={SETTINGS_LABELS}
        onSubmit={() => isChanged && save.mutate()}
        said={<Said message={save.data?.message} />}
        cancel={isChanged && <Button onClick={() => setEdited({})}>Undo</Button>}
        disabled={!isChanged}
      >
        <div className="grid grid-cols-1 gap-4">
          <NameFields field={field} />
          <ModelAndPaymentFields field={field} isModelFixed={deployment.mode === 'locked'} />
        </div>
      </SaveForm>
    </Card>
  );
}

const About = ({ deployment }: { deployment: Deployment }) => {
  const { address, createdAt, updatedAt, source, definitionHash, lockedAt } = deployment;
  return (
    <Card>
      <Details
        items={{
          Address: <CopyableCode text={address} what="address of the deployment" />,
          Created: <Time at={createdAt} />,
          Changed: <Time at={updatedAt} />,
          ...(source && {
            'Cloned from': <CopyableCode text={source.address} what="address of its source" />,
            'After its entry': source.seq,
          }),
          ...(definitionHash && {
            Locked: <Time at={lockedAt} />,
            'Hash of what it runs': <CopyableCode text={definitionHash} what="definition hash" />,
          }),
        }}
      />
    </Card>
  );
};
