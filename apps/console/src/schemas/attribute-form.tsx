import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { Attribute } from '../api/records.js';
import { useChange } from '../api/use-change.js';
import { SCHEMAS, schemasKey } from '../api/worlds.js';
import { FormButton } from '../ui/dialog.js';
import { CheckField, NumberField, SelectField, TextField } from '../ui/field.js';
import { SaveForm, useDraft } from '../ui/save-form.js';
import { type AttributeDraft, bodyOf, constraintsOf, draftOf, EMPTY } from './attribute-draft.js';
import { isUnreadable, readTyped, samplesOf, whyWrong } from './check-value.js';

export interface SchemaRef {
  readonly world: string;
  readonly schema: string;
}

type Body = ReturnType<typeof bodyOf>;
const ATTRIBUTES = `${SCHEMAS}/{schemaName}/attributes` as const;

export const NewAttribute = (ref: SchemaRef) => (
  <FormButton verb="New attribute" look="primary" wide title={`New attribute of ${ref.schema}`}>
    {(close) => <Creation {...ref} onClose={close} />}
  </FormButton>
);

interface EditProps extends SchemaRef {
  attribute: Attribute;
}

export const EditAttribute = (props: EditProps) => {
  const { name } = props.attribute;
  return (
    <FormButton verb="Edit" size="small" aria-label={`Edit ${name}`} wide title={`Attribute ${name}`}>
      {(close) => <Editing {...props} onClose={close} />}
    </FormButton>
  );
};

interface Closing {
  onClose: () => void;
}

function Creation({ world, schema, onClose }: SchemaRef & Closing) {
  const path = { worldAddress: world, schemaName: schema };
  const create = useChange(
    (orrery, body: Body) => orrery.post(ATTRIBUTES, { path, body }),
    [schemasKey(world)],
    onClose,
  );
  return <AttributeForm initial={EMPTY} verb="Create" save={create} onClose={onClose} />;
}

function Editing({ world, schema, attribute, onClose }: EditProps & Closing) {
  const path = { worldAddress: world, schemaName: schema, name: attribute.name };
  const save = useChange(
    (orrery, body: Body) => orrery.put(`${ATTRIBUTES}/{name}`, { path, body }),
    [schemasKey(world)],
    onClose,
  );
  return <AttributeForm initial={draftOf(attribute)} verb="Save" save={save} onClose={onClose} />;
}

/** Each type of the API, which the compiler compares with openapi.json. */
const TYPES = {
  integer: 'integer: a whole number',
  float: 'float: any number',
  string: 'string: text',
  boolean: 'boolean: true or false',
  json: 'json: any JSON',
} satisfies Record<Attribute['type'], string>;
const TYPE_OPTIONS = Object.entries(TYPES) as [Attribute['type'], string][];
const LABELS = {
  '/name': 'Name',
  '/type': 'Type',
  '/constraints/min': 'Least (min)',
  '/constraints/max': 'Greatest (max)',
  '/constraints/enum': 'Only these',
  '/constraints/pattern': 'Pattern',
  '/defaultValue': 'Default',
};

interface AttributeFormProps extends Closing {
  initial: AttributeDraft;
  verb: string;
  save: UseMutationResult<unknown, Error, Body>;
}

function AttributeForm({ initial, verb, save, onClose }: AttributeFormProps) {
  const { draft, change, field } = useDraft(initial, LABELS, save.error);
  const { type, defaultValue, required } = draft;
  const isNumber = type === 'integer' || type === 'float';
  const wrongDefault = wrongText(defaultValue, draft);
  const sayDefault = wrongDefault && `The default ${wrongDefault}.`;
  const submit = () => save.mutate(bodyOf(draft));
  const form = { verb, save, labels: LABELS, onSubmit: submit, cancel: onClose };
  const ofDefault = field('defaultValue');
  return (
    <SaveForm {...form} failed="The attribute was not saved">
      <div className="grid gap-x-6 gap-y-4 pb-4 md:grid-cols-[3fr_2fr]">
        <div className="space-y-4">
          <TextField {...field('name')} required />
          <SelectField {...field('type')} options={TYPE_OPTIONS} />
          {isNumber && (
            <div className="grid grid-cols-2 gap-3">
              <NumberField {...field('min', '/constraints/min')} />
              <NumberField {...field('max', '/constraints/max')} />
            </div>
          )}
          {type === 'string' && (
            <>
              <TextField
                {...field('enum', '/constraints/enum')}
                hint="Separated by commas. Empty: any text."
              />
              <TextField
                {...field('pattern', '/constraints/pattern')}
                hint="A regular expression; with ^ and $ for the whole text."
              />
            </>
          )}
          <CheckField
            label="Required"
            hint="Present and not null, once the default is filled in."
            checked={required}
            onChange={(isRequired) => change({ required: isRequired })}
          />
          <TextField
            {...ofDefault}
            hint={type === 'string' ? 'Empty: none.' : 'As JSON. Empty: none.'}
            error={ofDefault.error ?? sayDefault}
            unreadable={isUnreadable(defaultValue, type) ? sayDefault : undefined}
          />
        </div>
        <AtWork draft={draft} />
      </div>
    </SaveForm>
  );
}

function AtWork({ draft }: { draft: AttributeDraft }) {
  const [text, setText] = useState('');
  const rules = { type: draft.type, constraints: constraintsOf(draft) };
  const wrong = wrongText(text, draft);
  return (
    <section aria-label="The rules at work" className="rounded-md border border-line bg-sunken p-3">
      <h3 className="mb-2 text-sm font-semibold">The rules at work</h3>
      <ul className="space-y-1 text-sm">
        {samplesOf(rules).map(({ shown, wrong: reason }) => (
          <li key={shown} className="flex items-baseline gap-2">
            <Verdict wrong={reason} />
            <code className="max-w-40 truncate font-mono">{shown}</code>
            {reason && <span className="text-muted">{reason}</span>}
          </li>
        ))}
      </ul>
      <TextField className="mt-3" label="Try a value" value={text} onChange={setText} />
      {text !== '' && (
        <p role="status" className="mt-1.5 flex items-baseline gap-2 text-sm">
          <Verdict wrong={wrong} />
          {wrong ?? 'is fine'}
        </p>
      )}
    </section>
  );
}

const Verdict = ({ wrong }: { wrong: string | undefined }) =>
  wrong === undefined ? (
    <span className="font-semibold text-ok">
      <span aria-hidden="true">✓</span>
      <span className="sr-only">taken:</span>
    </span>
  ) : (
    <span className="font-semibold text-bad">
      <span aria-hidden="true">✗</span>
      <span className="sr-only">refused:</span>
    </span>
  );

function wrongText(text: string, draft: AttributeDraft): string | undefined {
  if (text === '') return undefined;
  try {
    return whyWrong(readTyped(text, draft.type), { type: draft.type, constraints: constraintsOf(draft) });
  } catch {
    return 'is no JSON';
  }
}
