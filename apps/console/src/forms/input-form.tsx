import type { ReactNode } from 'react';
import { Button } from '../ui/button.js';
import { type FieldProps, Field as LabelledControl } from '../ui/field.js';
import { below } from '../ui/messages.js';
import { type Draft, emptyDraft, initialDraft, type ObjectDraft, type Problems } from './drafts.js';
import type { Field, FieldOf, ObjectField } from './form-model.js';

interface ControlProps<F extends Field, D> {
  field: F;
  draft: D;
  onChange: (draft: D) => void;
  /** RFC 6901 into the input. */
  pointer: string;
  problems: Problems;
  label: string;
  isRequired: boolean;
}
type AnyControl = ControlProps<Field, Draft>;

export function MemberControls(props: Omit<ControlProps<ObjectField, ObjectDraft>, 'label' | 'isRequired'>) {
  const { field, draft, onChange, pointer, problems } = props;
  if (field.members.length === 0) return <p className="text-muted">This event takes no input.</p>;
  return (
    <div className="grid grid-cols-1 gap-3.5">
      {field.members.map(({ name, field: member, isRequired }) => (
        <FieldControl
          key={name}
          field={member}
          draft={draft[name]}
          onChange={(next) => onChange({ ...draft, [name]: next })}
          pointer={below(pointer, name)}
          problems={problems}
          label={member.title ?? name}
          isRequired={isRequired}
        />
      ))}
    </div>
  );
}

function FieldControl(props: AnyControl) {
  const { field, draft, onChange } = props;
  switch (field.kind) {
    case 'object':
      return (
        <Group {...props}>
          <MemberControls {...props} field={field} draft={(draft ?? {}) as ObjectDraft} />
        </Group>
      );
    case 'list':
      return (
        <Group {...props}>
          <Items {...props} field={field} draft={(draft ?? []) as readonly Draft[]} onChange={onChange} />
        </Group>
      );
    case 'boolean':
      return props.isRequired ? <Check {...props} /> : <YesOrNo {...props} />;
    case 'choice':
      return <Choice {...props} options={field.options.map((option) => JSON.stringify(option))} />;
    default:
      return <TextControl {...props} />;
  }
}

function hintOf({ field, isRequired }: AnyControl): string | undefined {
  const hints = [field.description, field.hint, !isRequired && 'may be left out'];
  return hints.filter(Boolean).join(' · ') || undefined;
}

interface LabelledProps extends Pick<AnyControl, 'label' | 'pointer' | 'problems' | 'isRequired'> {
  hint: string | undefined;
  children: FieldProps['children'];
}

const Labelled = ({ label, pointer, problems, isRequired, hint, children }: LabelledProps) => (
  <LabelledControl label={label} hint={hint} required={isRequired} error={problems.get(pointer)}>
    {children}
  </LabelledControl>
);

function TextControl(props: AnyControl) {
  const { field, draft, onChange } = props;
  const isJson = field.kind === 'json';
  // What is emptied by hand is left out, or forgotten; the empty text is a value where it is the default.
  const emptied = field.initial === '' ? '' : undefined;
  const shared = {
    value: typeof draft === 'string' ? draft : '',
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value || emptied),
    className: isJson ? 'control font-mono text-sm' : 'control',
    spellCheck: field.kind === 'text' && field.isLong,
    'aria-required': props.isRequired,
    autoComplete: 'off',
  };
  const hint = [isJson && 'JSON', hintOf(props)].filter(Boolean).join(': ');
  const isLong = isJson || (field.kind === 'text' && field.isLong);
  return (
    <Labelled {...props} hint={hint || undefined}>
      {(control) =>
        isLong ? (
          <textarea rows={isJson ? 2 : 4} {...shared} {...control} />
        ) : (
          <input type="text" inputMode={inputModeOf(field)} {...shared} {...control} />
        )
      }
    </Labelled>
  );
}

/** Which keys a telephone shows. */
function inputModeOf(field: Field): 'numeric' | 'decimal' | undefined {
  if (field.kind !== 'number') return undefined;
  // The numeric keys of some telephones have no minus.
  return field.isWhole && field.hint !== undefined && !field.hint.includes('-') ? 'numeric' : 'decimal';
}

function Choice(props: AnyControl & { options: readonly string[] }) {
  const { draft, onChange, options } = props;
  return (
    <Labelled {...props} hint={hintOf(props)}>
      {(control) => (
        <select
          {...control}
          aria-required={props.isRequired}
          className="control"
          value={typeof draft === 'string' ? draft : ''}
          onChange={({ target }) => onChange(target.value)}
        >
          <option value="">{props.isRequired ? 'Choose …' : '(left out)'}</option>
          {options.map((option) => (
            <option key={option} value={option}>
              {wordsOf(option)}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

const wordsOf = (json: string): string => (json.startsWith('"') ? String(JSON.parse(json)) : json);

function Check({ draft, onChange, label, field, pointer, problems }: AnyControl) {
  return (
    <LabelledControl label={label} hint={field.description} error={problems.get(pointer)}>
      {(control) => (
        <span className="flex items-center gap-2">
          <input
            type="checkbox"
            {...control}
            className="size-3.5 accent-accent"
            checked={draft === true}
            onChange={({ target }) => onChange(target.checked)}
          />
          <span aria-hidden="true" className="text-muted">
            {draft === true ? 'true' : 'false'}
          </span>
        </span>
      )}
    </LabelledControl>
  );
}

/** A boolean that may be left out has three states. */
function YesOrNo(props: AnyControl) {
  const { draft, onChange } = props;
  return (
    <Choice
      {...props}
      draft={typeof draft === 'boolean' ? String(draft) : ''}
      onChange={(next) => onChange(next === '' ? undefined : next === 'true')}
      options={['true', 'false']}
    />
  );
}

/** A frame around what has several controls; where it may be left out it can be added and removed. */
function Group(props: AnyControl & { children: ReactNode }) {
  const { field, draft, onChange, label, isRequired, pointer, problems, children } = props;
  const hint = hintOf(props);
  return (
    <fieldset className="min-w-0 rounded-md border border-line px-3 pt-1.5 pb-3">
      <legend className="px-1 font-medium">{label}</legend>
      {hint && <p className="mb-2 text-sm text-muted">{hint}</p>}
      {problems.has(pointer) && <p className="mb-2 text-sm font-medium text-bad">{problems.get(pointer)}</p>}
      {draft !== undefined && children}
      {draft === undefined && (
        <Button size="small" aria-label={`Add ${label}`} onClick={() => onChange(emptyDraft(field))}>
          Add
        </Button>
      )}
      {draft !== undefined && !isRequired && (
        <Button
          size="small"
          look="quiet"
          className="mt-2"
          aria-label={`Leave out ${label}`}
          onClick={() => onChange(undefined)}
        >
          Leave out
        </Button>
      )}
    </fieldset>
  );
}

function Items(props: ControlProps<FieldOf<'list'>, readonly Draft[]>) {
  const { field, draft, onChange, pointer, problems, label } = props;
  return (
    <div className="grid grid-cols-1 gap-2.5">
      {draft.map((item, index) => (
        <div key={below(pointer, index)} className="flex items-end gap-2">
          <div className="min-w-0 grow">
            <FieldControl
              field={field.item}
              draft={item}
              onChange={(next) => onChange(draft.with(index, next))}
              pointer={below(pointer, index)}
              problems={problems}
              label={`${label} ${index + 1}`}
              isRequired
            />
          </div>
          <Button
            size="small"
            look="quiet"
            aria-label={`Remove ${label} ${index + 1}`}
            onClick={() => onChange(draft.toSpliced(index, 1))}
          >
            Remove
          </Button>
        </div>
      ))}
      <div>
        <Button
          size="small"
          aria-label={`Add an item to ${label}`}
          onClick={() => onChange([...draft, initialDraft(field.item, true)])}
        >
          Add an item
        </Button>
      </div>
    </div>
  );
}
