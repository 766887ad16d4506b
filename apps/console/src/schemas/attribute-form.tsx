import { useState } from 'react';
import { useChange } from '../api/change.js';
import { useGuard } from '../api/guard.js';
import { keyOf, useGet } from '../api/read.js';
import type { Attribute } from '../api/records.js';
import { SCHEMA, SCHEMAS } from '../api/worlds.js';
import { Conflict, isConflict } from '../ui/conflict.js';
import { FormButton } from '../ui/dialog.js';
import { CheckField, NumberField, SelectField, TextField } from '../ui/field.js';
import { Await } from '../ui/messages.js';
import { SaveForm, useDraft } from '../ui/save-form.js';
import { listOf, listText, numberIn } from '../ui/typed-text.js';
import { isUnreadable, readTyped, samplesOf, whyWrong } from './check-value.js';

export interface SchemaRef {
  readonly world: string;
  readonly schema: string;
}
export const schemaPath = ({ world, schema }: SchemaRef) => ({ worldAddress: world, schemaName: schema });

const ATTRIBUTES = `${SCHEMA}/attributes` as const;
export const ATTRIBUTE = `${ATTRIBUTES}/{name}` as const;

interface EditProps extends SchemaRef {
  /** What is edited; without it one is made. */
  attribute?: Attribute;
}

export const AttributeButton = (props: EditProps) => {
  const { attribute, schema } = props;
  const look =
    attribute === undefined
      ? ({ verb: 'New attribute', look: 'primary', title: `New attribute of ${schema}` } as const)
      : ({
          verb: 'Edit',
          size: 'small',
          'aria-label': `Edit ${attribute.name}`,
          title: `Attribute ${attribute.name}`,
        } as const);
  return (
    <FormButton {...look} wide>
      {(close) =>
        attribute === undefined ? (
          <AttributeForm {...props} onClose={close} />
        ) : (
          <StoredAttribute {...props} name={attribute.name} onClose={close} />
        )
      }
    </FormButton>
  );
};

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
  '/indexed': 'Indexed',
};

/** The form of an attribute as it is now, so that a change of somebody else's is not lost. */
function StoredAttribute({ name, onClose, world, schema }: FormProps & { name: string }) {
  const ref = { world, schema };
  return (
    <Await query={useGet(ATTRIBUTE, { path: { ...schemaPath(ref), name } })} what="the attribute">
      {(attribute) => <AttributeForm {...ref} attribute={attribute} onClose={onClose} />}
    </Await>
  );
}

/** Those of which each may be wrong for what another says. */
const RULES = ['type', 'min', 'max', 'enum', 'pattern', 'defaultValue'] as const;

type FormProps = EditProps & { onClose: () => void };

function AttributeForm({ attribute, onClose, ...ref }: FormProps) {
  const path = schemaPath(ref);
  const own = { ...path, name: attribute?.name ?? '' };
  const guard = useGuard(ATTRIBUTE, own);
  const save = useChange(
    (orrery, body: ReturnType<typeof bodyOf>, once) =>
      attribute === undefined
        ? orrery.post(ATTRIBUTES, once({ path, body }))
        : orrery.put(ATTRIBUTE, { path: own, headers: guard.headers(), body }),
    [keyOf(SCHEMAS, path)],
    onClose,
  );
  const initial = attribute === undefined ? EMPTY : draftOf(attribute);
  const { draft, change, field, refusal } = useDraft<AttributeDraft>(initial, LABELS, save.error, RULES);
  const { type, defaultValue, required, indexed } = draft;
  const isNumber = type === 'integer' || type === 'float';
  const wrongDefault = wrongText(defaultValue, draft);
  const sayDefault = wrongDefault && `The default ${wrongDefault}.`;
  const ofDefault = field('defaultValue');
  return (
    <SaveForm
      verb={attribute === undefined ? 'Create' : 'Save'}
      save={save}
      refusal={refusal}
      labels={LABELS}
      conflict={
        isConflict(save.error) &&
        attribute && (
          <Conflict
            theirs={draftOf(attribute)}
            mine={draft}
            onOverwrite={() => {
              guard.renew();
              save.mutate(bodyOf(draft));
            }}
          />
        )
      }
      onSubmit={() => save.mutate(bodyOf(draft))}
      cancel={onClose}
      failed="The attribute was not saved"
    >
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
                hint="Separated by commas, or a JSON list. Empty: any text."
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
            hint={
              type === 'string'
                ? 'Empty: none. In quotes it is JSON: "" is the empty text.'
                : 'As JSON. Empty: none.'
            }
            error={ofDefault.error ?? sayDefault}
            unreadable={isUnreadable(defaultValue, type) ? sayDefault : undefined}
          />
          {type !== 'json' && (
            <CheckField
              label="Indexed"
              hint="Queries that order or compare by it are quick, and each change of it costs a little more."
              checked={indexed}
              onChange={(isIndexed) => change({ indexed: isIndexed })}
            />
          )}
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
    return whyWrong(typedValue(text, draft.type), { type: draft.type, constraints: constraintsOf(draft) });
  } catch {
    return 'is no JSON';
  }
}

/** An attribute as it is typed, as it begins. */
const EMPTY = {
  name: '',
  type: 'integer' as Attribute['type'],
  min: '',
  max: '',
  /** Separated by commas, or a JSON list. */
  enum: '',
  pattern: '',
  required: false,
  indexed: false,
  /** Empty: none. Of `string` the text itself or a JSON string, of the others JSON. */
  defaultValue: '',
};
type AttributeDraft = Readonly<typeof EMPTY>;

export function draftOf({ name, type, constraints, defaultValue, indexed }: Attribute): AttributeDraft {
  const { min, max, enum: words, pattern, required } = constraints ?? {};
  return {
    name,
    type,
    min: min === undefined ? '' : String(min),
    max: max === undefined ? '' : String(max),
    enum: listText(words ?? []),
    pattern: pattern ?? '',
    required: required ?? false,
    indexed,
    defaultValue: textOf(defaultValue, type),
  };
}

/** What cannot stand in a field as a text of its own: the empty one, one of several lines, one that may be read as JSON. */
const NOT_PLAIN = /^$|^"|[\r\n]/;

function textOf(value: Attribute['defaultValue'], type: Attribute['type']): string {
  if (value === null) return '';
  const isPlain = type === 'string' && typeof value === 'string' && !NOT_PLAIN.test(value);
  return isPlain ? value : JSON.stringify(value);
}

/** The value that was typed: of `string` also as a JSON string. @throws SyntaxError for no JSON */
function typedValue(text: string, type: Attribute['type']): unknown {
  if (type !== 'string' || !text.startsWith('"')) return readTyped(text, type);
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : text;
  } catch {
    return text;
  }
}

/**
 * The rules that were typed, as the API takes them: only those that fit the type, and bounds that can be read. Null: none.
 */
function constraintsOf(draft: AttributeDraft): Attribute['constraints'] {
  const isNumber = draft.type === 'integer' || draft.type === 'float';
  const words = listOf(draft.enum);
  const min = isNumber ? numberIn(draft.min) : undefined;
  const max = isNumber ? numberIn(draft.max) : undefined;
  const constraints = {
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(draft.type === 'string' && words.length > 0 && { enum: words }),
    ...(draft.type === 'string' && draft.pattern !== '' && { pattern: draft.pattern }),
    ...(draft.required && { required: true }),
  };
  return Object.keys(constraints).length === 0 ? null : constraints;
}

/** The body of its creation or change. No form is sent with a default or a bound that cannot be read. */
export const bodyOf = (draft: AttributeDraft) => ({
  name: draft.name.trim(),
  type: draft.type,
  constraints: constraintsOf(draft),
  indexed: draft.indexed && draft.type !== 'json',
  defaultValue: (typedValue(draft.defaultValue, draft.type) ?? null) as Attribute['defaultValue'],
});
