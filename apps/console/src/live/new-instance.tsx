import type { components } from '@orrery/sdk';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { deploymentKey, deploymentQuery } from '../api/deployments.js';
import type { DeploymentRef, EntitySchema } from '../api/records.js';
import { useChange } from '../api/use-change.js';
import { emptyObject, type Problems, readDraft } from '../forms/drafts.js';
import { MemberControls } from '../forms/input-form.js';
import { placeWords } from '../forms/place-words.js';
import { useOrrery } from '../session/use-session.js';
import { Button } from '../ui/button.js';
import { Actions } from '../ui/dialog.js';
import { ErrorNote, problemAt, problemsOf } from '../ui/error-note.js';
import { SelectField, TextField } from '../ui/field.js';
import { Form } from '../ui/form.js';
import { FormDialog } from '../ui/form-dialog.js';
import { formOfState } from './attribute-form.js';

type InstanceBody = components['schemas']['NewEntityInstance'];

interface NewInstanceProps {
  deployment: DeploymentRef;
  schemas: readonly EntitySchema[];
  /** The schema that the form begins with; undefined: the first. */
  schema: string | undefined;
}

/** Creates an instance by hand. A locked deployment takes none, a world without schemas has none. */
export function NewInstance({ deployment, schemas, schema }: NewInstanceProps) {
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery(deploymentQuery(useOrrery(), deployment));
  const [first] = schemas;
  if (data?.mode !== 'upgradable' || first === undefined) return null;
  const begin = schemas.some(({ name }) => name === schema) ? schema : undefined;
  return (
    <>
      <Button size="small" onClick={() => setOpen(true)}>
        New instance
      </Button>
      <FormDialog title="New instance" open={isOpen} onClose={() => setOpen(false)}>
        <InstanceForm
          deployment={deployment}
          schemas={schemas}
          begin={begin ?? first.name}
          onClose={() => setOpen(false)}
        />
      </FormDialog>
    </>
  );
}

interface InstanceFormProps {
  deployment: DeploymentRef;
  schemas: readonly EntitySchema[];
  begin: string;
  onClose: () => void;
}

function InstanceForm({ deployment, schemas, begin, onClose }: InstanceFormProps) {
  const [entitySchema, setSchema] = useState(begin);
  const [instanceId, setInstanceId] = useState('');
  const state = useStateForm(schemas, entitySchema);
  const create = useChange(
    (orrery, body: InstanceBody) =>
      orrery.post('/api/worlds/{worldAddress}/deployments/{address}/entity-instances', {
        path: { worldAddress: deployment.world, address: deployment.deployment },
        body,
      }),
    [[...deploymentKey(deployment), 'instances']],
  );
  const submit = () => {
    const read = state.read();
    if (read) create.mutate({ entitySchema, instanceId, state: read }, { onSuccess: onClose });
  };
  const problems = state.problems.size > 0 ? state.problems : stateProblems(create.error);
  return (
    <Form onSubmit={submit} className="space-y-4">
      <SelectField
        label="Schema"
        value={entitySchema}
        onChange={(next) => {
          setSchema(next);
          state.restart(next);
          create.reset();
        }}
        options={schemas.map(({ name }) => [name, name] as const)}
      />
      <TextField
        label="Instance id"
        required
        value={instanceId}
        onChange={setInstanceId}
        hint={`Names it among those of ${entitySchema}. Events change it as ${entitySchema}:${instanceId || '…'}.`}
        error={problemAt(create.error, '/instanceId')}
      />
      {state.form.members.length > 0 && (
        <MemberControls
          field={state.form}
          draft={state.draft}
          onChange={state.enter}
          pointer=""
          problems={problems}
        />
      )}
      <ErrorNote
        error={create.error}
        title="The instance was not created"
        shownElsewhere={(pointer) => pointer === '/instanceId' || STATE.test(pointer)}
        nameOf={nameOf}
      />
      <Actions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" pending={create.isPending}>
          Create
        </Button>
      </Actions>
    </Form>
  );
}

const STATE = /^\/state(?=\/|$)/;
const NONE: Problems = new Map();

/** The label of a field: of an attribute its name. */
const nameOf = (pointer: string): string | undefined =>
  pointer === '/instanceId'
    ? 'Instance id'
    : STATE.test(pointer)
      ? placeWords(pointer.replace(STATE, ''))
      : undefined;

/** What the service found wrong in the state, by pointers into it. */
const stateProblems = (error: unknown): Problems =>
  new Map(
    problemsOf(error)
      .filter(({ pointer }) => STATE.test(pointer))
      .map(({ pointer, message }) => [pointer.replace(STATE, ''), message]),
  );

const formIn = (schemas: readonly EntitySchema[], schema: string) =>
  formOfState(schemas.find(({ name }) => name === schema)?.attributes ?? []);

/** The state that is entered, in the form of one schema; `restart` begins with that of another. */
function useStateForm(schemas: readonly EntitySchema[], schema: string) {
  const form = useMemo(() => formIn(schemas, schema), [schemas, schema]);
  const [draft, enter] = useState(() => emptyObject(form));
  const [problems, setProblems] = useState(NONE);
  return {
    form,
    draft,
    enter,
    problems,
    restart: (next: string) => {
      enter(emptyObject(formIn(schemas, next)));
      setProblems(NONE);
    },
    /** @returns undefined where something cannot be read; it is said at its control then */
    read: () => {
      const read = readDraft(form, draft);
      setProblems(read.problems);
      return read.problems.size === 0 ? read.value : undefined;
    },
  };
}
