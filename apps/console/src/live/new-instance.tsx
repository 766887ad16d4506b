import type { JsonObject } from '@orrery/sdk';
import { useMemo, useState } from 'react';
import { useChange } from '../api/change.js';
import {
  deploymentKey,
  deploymentPath,
  INSTANCES,
  useDeployment,
  useDeploymentRef,
} from '../api/deployments.js';
import type { Attribute, NewInstance as Body, EntitySchema } from '../api/records.js';
import { emptyObject, type ObjectDraft, type Problems, problemMap, readDraft } from '../forms/drafts.js';
import type { ObjectField } from '../forms/form-model.js';
import { fieldOfSchema } from '../forms/form-model.js';
import { MemberControls } from '../forms/input-form.js';
import { FormButton } from '../ui/dialog.js';
import { named, SelectField, TextField } from '../ui/field.js';
import { below, partWords, problemAt, problemsBelow } from '../ui/messages.js';
import { useRefusal } from '../ui/refusal.js';
import { SaveForm } from '../ui/save-form.js';

interface NewInstanceProps {
  schemas: readonly EntitySchema[];
  /** The schema that the form begins with; undefined: the first. */
  schema: string | undefined;
}

/** Creates an instance by hand. A locked deployment takes none, a world without schemas has none. */
export function NewInstance({ schemas, schema }: NewInstanceProps) {
  const { data } = useDeployment(useDeploymentRef());
  const begin = schemas.find(({ name }) => name === schema) ?? schemas[0];
  if (data?.mode !== 'upgradable' || begin === undefined) return null;
  return (
    <FormButton verb="New instance" title="New instance" size="small">
      {(close) => <InstanceForm schemas={schemas} begin={begin.name} onClose={close} />}
    </FormButton>
  );
}

interface InstanceFormProps extends Omit<NewInstanceProps, 'schema'> {
  begin: string;
  onClose: () => void;
}

function InstanceForm({ schemas, begin, onClose }: InstanceFormProps) {
  const deployment = useDeploymentRef();
  const [entitySchema, setSchema] = useState(begin);
  const [instanceId, setInstanceId] = useState('');
  const state = useStateForm(schemas, entitySchema);
  const create = useChange(
    (orrery, body: Body, once) => orrery.post(INSTANCES, once({ path: deploymentPath(deployment), body })),
    [[...deploymentKey(deployment), 'instances']],
    onClose,
  );
  const submit = () => {
    const read = state.read();
    if (read) create.mutate({ entitySchema, instanceId, state: read });
  };
  // Each attribute by its pointer, as the service names it.
  const entered: Record<string, unknown> = { '/instanceId': instanceId, ...byPointer(state.draft) };
  const refusal = useRefusal(create.error, entered, memberOfState);
  const choose = (next: string) => {
    setSchema(next);
    state.restart(next);
    create.reset();
  };
  return (
    <SaveForm
      verb="Create"
      save={create}
      refusal={refusal}
      failed="The instance was not created"
      nameOf={nameOf}
      isAtField={(pointer) => pointer === '/instanceId' || STATE.test(pointer)}
      onSubmit={submit}
      cancel={onClose}
      className="space-y-4"
    >
      <SelectField
        label="Schema"
        value={entitySchema}
        onChange={choose}
        options={named(schemas.map(({ name }) => name))}
      />
      <TextField
        label="Instance id"
        required
        value={instanceId}
        onChange={setInstanceId}
        hint={`Names it among those of ${entitySchema}. Events change it as ${entitySchema}:${instanceId || '…'}.`}
        error={problemAt(refusal, '/instanceId')}
      />
      {state.form.members.length > 0 && (
        <MemberControls
          field={state.form}
          draft={state.draft}
          onChange={state.enter}
          pointer=""
          problems={state.problems.size > 0 ? state.problems : problemMap(problemsBelow(refusal, '/state'))}
        />
      )}
    </SaveForm>
  );
}

const byPointer = (draft: ObjectDraft) =>
  Object.fromEntries(Object.entries(draft).map(([name, value]) => [below('/state', name), value]));

/** `/state/wins` of `/state/wins/3`. */
const memberOfState = (pointer: string): string => pointer.split('/', STATE.test(pointer) ? 3 : 2).join('/');

const STATE = /^\/state(?=\/|$)/;
const NONE: Problems = new Map();

const nameOf = (pointer: string): string | undefined =>
  pointer === '/instanceId'
    ? 'Instance id'
    : STATE.test(pointer)
      ? partWords(pointer.replace(STATE, ''))
      : undefined;

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

/** The form of an instance's state: a control for each attribute, which begins with its default. */
export const formOfState = (attributes: readonly Attribute[]): ObjectField => ({
  kind: 'object',
  members: attributes.map((attribute) => ({
    name: attribute.name,
    isRequired: isNeeded(attribute),
    field: fieldOfSchema(valueSchema(attribute)),
  })),
});

/** The service fills in defaults before it looks for required attributes. */
const isNeeded = ({ constraints, defaultValue }: Attribute): boolean =>
  constraints?.required === true && defaultValue === null;

const TYPES = {
  integer: { type: 'integer' },
  float: { type: 'number' },
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  json: {},
} as const satisfies Record<Attribute['type'], JsonObject>;

function valueSchema({ type, constraints, defaultValue }: Attribute): JsonObject {
  const { min, max, enum: words, pattern } = constraints ?? {};
  return {
    ...TYPES[type],
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
    ...(words !== undefined && { enum: words }),
    ...(pattern !== undefined && { pattern }),
    ...(defaultValue !== null && { default: defaultValue }),
  };
}
