import type { EntityInstance, JsonObject } from '@orrery/sdk';
import { useMemo, useState } from 'react';
import { useChange } from '../api/change.js';
import { deploymentPath, INSTANCES, instanceKey, useDeploymentRef } from '../api/deployments.js';
import { useRead } from '../api/read.js';
import type { Attribute } from '../api/records.js';
import { type Problems, problemMap } from '../forms/drafts.js';
import type { InputForm } from '../forms/form-model.js';
import { formOfState } from '../live/new-instance.js';
import { enteredOf, InputEditor, readEntered } from '../run/input-editor.js';
import { Conflict, isConflict } from '../ui/conflict.js';
import { Confirm, FormButton } from '../ui/dialog.js';
import { Await, partWords, problemsBelow } from '../ui/messages.js';
import { useRefusal } from '../ui/refusal.js';
import { SaveForm } from '../ui/save-form.js';
import { instancesKey } from './queries.js';

interface EditProps {
  instance: EntityInstance;
  attributes: readonly Attribute[];
}

/** Opens the state of an instance, as it is then. */
export const EditInstance = ({ instance, attributes }: EditProps) => (
  <FormButton
    verb="Edit"
    size="small"
    aria-label={`Edit ${instance.instanceId}`}
    title={instanceKey(instance)}
    wide
  >
    {(close) => <StoredInstance instance={instance} attributes={attributes} onClose={close} />}
  </FormButton>
);

type StateFormProps = EditProps & { onClose: () => void };

const useInstance = ({ entitySchema, instanceId }: EntityInstance) => {
  const ref = useDeploymentRef();
  const path = { ...deploymentPath(ref), instanceId };
  return useRead([...instancesKey(ref), 'one', entitySchema, instanceId], (orrery, signal) =>
    orrery.get(`${INSTANCES}/{instanceId}`, { path, query: { entitySchema }, signal }),
  );
};

function StoredInstance({ instance, ...props }: StateFormProps) {
  const query = useInstance(instance);
  return (
    <Await query={query} what="the instance">
      {(stored) => <StateForm {...props} instance={stored} />}
    </Await>
  );
}

const NONE: Problems = new Map();

function StateForm({ instance, attributes, onClose }: StateFormProps) {
  const ref = useDeploymentRef();
  const { entitySchema, instanceId } = instance;
  const form: InputForm = useMemo(() => ({ kind: 'form', root: formOfState(attributes) }), [attributes]);
  // The revision that the form was filled from: another one since is told.
  const [begin, setBegin] = useState(instance);
  const [entered, setEntered] = useState(() => enteredOf(form, instance.state));
  const [problems, setProblems] = useState(NONE);
  const save = useChange(
    (orrery, { state, revision }: { state: JsonObject; revision: number }) =>
      orrery.put(`${INSTANCES}/{instanceId}`, {
        path: { ...deploymentPath(ref), instanceId },
        query: { entitySchema },
        headers: { 'if-match': `"${revision}"` },
        body: { state },
      }),
    [instancesKey(ref)],
    onClose,
  );
  const refusal = useRefusal(save.error, { entered }, () => 'entered');
  const read = () => {
    const value = readEntered(form, entered);
    setProblems(value.ok ? NONE : value.problems);
    return value.ok ? value.value : undefined;
  };
  const submit = (revision: number) => {
    const state = read();
    if (state !== undefined) save.mutate({ state, revision });
  };
  const mine = readEntered(form, entered);
  return (
    <SaveForm
      verb="Save"
      save={save}
      refusal={refusal}
      failed="The instance was not changed"
      isAtField={(pointer) => pointer.startsWith('/state/')}
      nameOf={(pointer) => partWords(pointer.replace(/^\/state/, ''))}
      onSubmit={() => submit(begin.revision)}
      cancel={onClose}
      conflict={
        isConflict(save.error) && (
          <Conflict
            theirs={instance.state}
            mine={mine.ok ? mine.value : entered}
            onOverwrite={() => {
              setBegin(instance);
              submit(instance.revision);
            }}
          />
        )
      }
    >
      <InputEditor
        form={form}
        entered={entered}
        onChange={setEntered}
        problems={problems.size > 0 ? problems : problemMap(problemsBelow(refusal, '/state'))}
        label="State"
      />
    </SaveForm>
  );
}

interface RemovalProps {
  instances: readonly Pick<EntityInstance, 'entitySchema' | 'instanceId' | 'revision'>[];
  onDone: () => void;
}

/** Deletes what is ticked, one after the other; one that somebody has changed meanwhile stays, and those after it. */
export function DeleteInstances({ instances, onDone }: RemovalProps) {
  const ref = useDeploymentRef();
  const remove = useChange(
    async (orrery) => {
      for (const { entitySchema, instanceId, revision } of instances)
        await orrery.delete(`${INSTANCES}/{instanceId}`, {
          path: { ...deploymentPath(ref), instanceId },
          query: { entitySchema },
          headers: { 'if-match': `"${revision}"` },
        });
    },
    [instancesKey(ref)],
    onDone,
  );
  const [first] = instances;
  const what = instances.length === 1 && first ? first.instanceId : `${instances.length} instances`;
  return (
    <Confirm
      verb={`Delete ${what}`}
      size="small"
      title={`Delete ${what}?`}
      onConfirm={() => remove.mutateAsync()}
    >
      Each deletion is an entry of the journal; the past keeps them.
    </Confirm>
  );
}
